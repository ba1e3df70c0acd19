import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** An input for a new password that states the requirements. */
export const NewPassword = (props: PasswordInputProps) => (
  <PasswordInput
    label="Password"
    description="At least 10 characters. A few words are easy to remember and hard to guess."
    autoComplete="new-password"
    {...props}
  />
)
