import { Checkbox, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { Webhook } from '../../server/webhooks.ts'

/** Enables a webhook, and sends the events that it missed if they are wanted. */
export function EnableWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const [sendsMissed, setSendsMissed] = useState(true)
  const enable = useSend({
    of: webhook,
    send: (_: undefined, options): Promise<Webhook> =>
      answer(api.webhooks({ id: webhook.id }).enable.post({ send_missed: sendsMissed }, options)),
    changes: ['webhooks', 'audit'],
    done: () => 'Webhook enabled.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen
      close={close}
      title="Enable webhook?"
      action="Enable webhook"
      confirm={() => enable.mutateAsync(undefined)}
    >
      <Stack gap="sm">
        <Text size="sm">It gets events from now on.</Text>
        <Checkbox
          checked={sendsMissed}
          onChange={(event) => setSendsMissed(event.currentTarget.checked)}
          label="Also send the events that it missed"
          description="From the first one that was not delivered, in order, as far as they are still in the event log."
        />
      </Stack>
    </Confirm>
  )
}
