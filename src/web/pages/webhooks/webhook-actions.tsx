/** What can be done with a webhook. */
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import type { Webhook, WebhookDelivery } from '../../server/webhooks.ts'
import { EditWebhook } from './edit-webhook.tsx'
import { EnableWebhook } from './enable-webhook.tsx'
import { RotateSecret } from './rotate-secret.tsx'
import { TakeOverWebhook } from './take-over-webhook.tsx'
import { isOwnedBy, isSigned } from './webhook-values.ts'

type Dialog = 'edit' | 'rotate' | 'take over' | 'enable' | 'disable' | 'remove'

interface WebhookActionsProps {
  webhook: Webhook
  /** Called with the result of a test. */
  tested: (delivery: WebhookDelivery) => void
}

export function WebhookActions({ webhook, tested }: WebhookActionsProps) {
  const { person } = useMe()
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const close = () => setDialog(null)
  const test = useSend({
    send: (): Promise<WebhookDelivery> => answer(api.webhooks({ id: webhook.id }).test.post()),
    changes: ['webhooks'],
    after: tested,
  })
  return (
    <>
      <Button onClick={() => test.mutate()} loading={test.isPending}>
        Send test
      </Button>
      <Button variant="default" onClick={() => setDialog('edit')}>
        Edit
      </Button>
      {isSigned(webhook.format) && (
        <Button variant="default" onClick={() => setDialog('rotate')}>
          Rotate secret…
        </Button>
      )}
      {!isOwnedBy(webhook, person.id) && (
        <Button variant="default" onClick={() => setDialog('take over')}>
          Take over…
        </Button>
      )}
      {webhook.state === 'disabled' ? (
        <Button variant="default" onClick={() => setDialog('enable')}>
          Enable…
        </Button>
      ) : (
        <Button variant="default" onClick={() => setDialog('disable')}>
          Disable…
        </Button>
      )}
      <Button variant="default" onClick={() => setDialog('remove')}>
        Remove…
      </Button>
      {dialog === 'edit' && <EditWebhook webhook={webhook} close={close} />}
      {dialog === 'rotate' && <RotateSecret webhook={webhook} close={close} />}
      {dialog === 'take over' && <TakeOverWebhook webhook={webhook} close={close} />}
      {dialog === 'enable' && <EnableWebhook webhook={webhook} close={close} />}
      {dialog === 'disable' && <DisableWebhook webhook={webhook} close={close} />}
      {dialog === 'remove' && <RemoveWebhook webhook={webhook} close={close} />}
    </>
  )
}

interface DialogProps {
  webhook: Webhook
  close: () => void
}

function DisableWebhook({ webhook, close }: DialogProps) {
  const disable = useSend({
    of: webhook,
    send: (_: undefined, options): Promise<Webhook> =>
      answer(api.webhooks({ id: webhook.id }).disable.post({}, options)),
    changes: ['webhooks', 'audit'],
    done: () => 'Webhook disabled.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen
      close={close}
      title="Disable webhook?"
      action="Disable webhook"
      confirm={() => disable.mutateAsync(undefined)}
    >
      <Text size="sm">
        It gets no events until you enable it. Then it can also get those that it missed, as far as they are still in
        the event log.
      </Text>
    </Confirm>
  )
}

function RemoveWebhook({ webhook, close }: DialogProps) {
  const [, navigate] = useLocation()
  const remove = useSend({
    of: webhook,
    send: (_: undefined, options) => answer(api.webhooks({ id: webhook.id }).delete({}, options)),
    changes: ['webhooks', 'audit'],
    leave: () => navigate('/webhooks'),
    done: () => `Webhook ${webhook.name} removed.`,
    quiet: true,
  })
  return (
    <Confirm
      isOpen
      close={close}
      title="Remove webhook?"
      action="Remove webhook"
      isDangerous
      confirm={() => remove.mutateAsync(undefined)}
    >
      <Text size="sm">It gets no more events, and the record of its deliveries is removed. You can’t undo this.</Text>
    </Confirm>
  )
}
