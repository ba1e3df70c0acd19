/** Replaces the secret of a webhook, and shows the new one once. */
import { Alert, Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { CreatedWebhook, Webhook } from '../../server/webhooks.ts'
import { SecretOnce } from './secret-once.tsx'

const OVERLAPS = [
  { value: '0', label: 'Not at all' },
  { value: '1', label: 'For an hour' },
  { value: '24', label: 'For a day' },
  { value: '168', label: 'For a week' },
]

export function RotateSecret({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const [overlap, setOverlap] = useState('24')
  const [secret, setSecret] = useState<string | null>(null)
  const rotate = useSend({
    of: webhook,
    send: (hours: number, options): Promise<CreatedWebhook> =>
      answer(api.webhooks({ id: webhook.id })['rotate-secret'].post({ overlap_hours: hours }, options)),
    changes: ['webhooks', 'audit'],
    after: (rotated) => setSecret(rotated.secret),
    quiet: true,
  })
  return (
    <Modal
      opened
      onClose={close}
      title={`Rotate the secret of “${webhook.name}”`}
      closeOnClickOutside={false}
      closeOnEscape={secret === null}
    >
      {secret !== null ? (
        <Stack>
          <SecretOnce secret={secret} />
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
          <Text size="sm">
            Creates a new secret. As long as the old one works, too, messages have a signature by each of them, so that
            you can update receivers one by one.
          </Text>
          <Select
            label="The old secret works"
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
              Rotate secret
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
