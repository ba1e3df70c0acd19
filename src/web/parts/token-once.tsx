import { Alert, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { CopyLine } from './copy-line.tsx'

/** A secret, the only time that it can be seen. */
export const TokenOnce = ({ secret }: { secret: string }) => (
  <Alert color="teal" variant="light" icon={<IconKey />} title="Copy the token now">
    <Stack gap="xs">
      <Text size="sm">It is shown this once and kept nowhere. Whoever has it can do what it may.</Text>
      <CopyLine text={secret} label="Copy the token" />
    </Stack>
  </Alert>
)
