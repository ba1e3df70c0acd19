import { Checkbox, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../../parts/confirm.tsx'
import { Moment } from '../../parts/figures.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { Webhook } from '../../server/webhooks.ts'

/** Enables a webhook, and sends the events that it missed if they are wanted. */
export function EnableWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const [sendsMissed, setSendsMissed] = useState(true)
  const since = webhook.failing_since ?? webhook.disabled_at!
  const enable = useSend({
    of: webhook,
    send: async (_: undefined, options): Promise<Webhook> => {
      const call = api.webhooks({ id: webhook.id })
      const enabled: Webhook = await answer(call.enable.post({}, options))
      return sendsMissed ? answer(call['resend-since'].post({ since })) : enabled
    },
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
          description={
            <>
              Those since <Moment at={since} />, in order.
            </>
          }
        />
      </Stack>
    </Confirm>
  )
}
