import { Button, Group, Stack, Text } from '@mantine/core'
import { CopyLine } from '../../parts/copy-line.tsx'
import { Moment } from '../../parts/figures.tsx'
import type { PasswordLink } from './roles.ts'

/** A one-time link to hand over: nothing is sent by itself. */
export function LinkOnce({ made: { user, link, expires_at }, leave }: { made: PasswordLink; leave: () => void }) {
  const mail = `mailto:${encodeURIComponent(user.email)}?subject=${encodeURIComponent('Your password for Tally')}&body=${encodeURIComponent(`Choose your password here:\n${link}`)}`
  return (
    <Stack>
      <Text size="sm">
        Hand this link to <bdi>{user.name}</bdi>. Whoever opens it chooses the password, once, until{' '}
        <Moment at={expires_at} />. It is shown this once; earlier links of theirs stopped working.
      </Text>
      <CopyLine text={link} label="Copy the link" />
      <Group justify="flex-end" gap="xs">
        <Button component="a" href={mail} variant="default">
          Write an e-mail
        </Button>
        <Button onClick={leave}>Done</Button>
      </Group>
    </Stack>
  )
}
