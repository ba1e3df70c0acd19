/** Replaces an API token by one with the same scopes, and shows it once. */
import { Alert, Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { TokenOnce } from '../../parts/token-once.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { CreatedToken, Token } from '../../server/tokens.ts'

const OVERLAPS = [
  { value: '0', label: 'Stop working at once' },
  { value: '1', label: 'Keep working for an hour' },
  { value: '24', label: 'Keep working for a day' },
  { value: '168', label: 'Keep working for a week' },
]

export function RotateToken({ token, close }: { token: Token; close: () => void }) {
  const [overlap, setOverlap] = useState('24')
  const [made, setMade] = useState<CreatedToken | null>(null)
  const rotate = useSend({
    send: (hours: number): Promise<CreatedToken> =>
      answer(api.tokens({ id: token.id }).rotate.post({ overlap_hours: hours })),
    changes: ['tokens', 'audit'],
    after: setMade,
    quiet: true,
  })
  return (
    <Modal
      opened
      onClose={close}
      title={`Rotate “${token.name}”`}
      closeOnClickOutside={false}
      closeOnEscape={made === null}
    >
      {made ? (
        <Stack>
          <TokenOnce secret={made.token} />
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <Stack>
          {rotate.error && (
            <Alert color="red" variant="light" role="alert">
              {rotate.error.message}
            </Alert>
          )}
          <Text size="sm">Creates a token with the same scopes, networks and lifetime.</Text>
          <Select
            label="The old token should"
            data={OVERLAPS}
            value={overlap}
            onChange={(value) => setOverlap(value ?? '24')}
            allowDeselect={false}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button onClick={() => rotate.mutate(Number(overlap))} loading={rotate.isPending}>
              Rotate token
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
