import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** For a password that is chosen; what it must be is said before it is refused. */
export const NewPassword = (props: PasswordInputProps) => (
  <PasswordInput
    label="Password"
    description="At least 10 characters. A few words are easy to remember and hard to guess."
    autoComplete="new-password"
    {...props}
  />
)
