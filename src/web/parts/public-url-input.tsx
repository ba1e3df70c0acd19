import { TextInput, type TextInputProps } from '@mantine/core'

export const PublicUrlInput = (props: TextInputProps) => (
  <TextInput label="Public URL" placeholder="https://tally.example.com" type="url" spellCheck={false} {...props} />
)
