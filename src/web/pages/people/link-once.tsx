import { Button, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyLine } from '../../parts/copy-line.tsx'
import { Moment } from '../../parts/figures.tsx'
import type { PasswordLink } from './roles.ts'

interface LinkOnceProps {
  made: PasswordLink
  leave: () => void
  /** What to do next. */
  children?: ReactNode
}

/** Shows a one-time link to pass on. Tally does not send it. */
export function LinkOnce({ made: { user, link, expires_at }, leave, children }: LinkOnceProps) {
  const mail = `mailto:${encodeURIComponent(user.email)}?subject=${encodeURIComponent('Set your Tally password')}&body=${encodeURIComponent(`Set your password here:\n${link}`)}`
  return (
    <Stack>
      <Text size="sm">
        Send this link to <bdi>{user.name}</bdi>. Anyone who has it can set the password, once, until{' '}
        <Moment at={expires_at} />. It won’t be shown again, and earlier links for this person no longer work.
      </Text>
      <CopyLine text={link} label="Copy link" />
      {children}
      <Group justify="flex-end" gap="xs">
        <Button component="a" href={mail} variant="default">
          Compose e-mail
        </Button>
        <Button onClick={leave}>Done</Button>
      </Group>
    </Stack>
  )
}
