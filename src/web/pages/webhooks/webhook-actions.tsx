/** What can be done with a webhook. */
import { Alert, Button, Checkbox, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Details } from '../../parts/details.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Rotation } from '../../parts/rotation.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import type { CreatedWebhook, Webhook, WebhookDelivery } from '../../server/webhooks.ts'
import { SecretOnce } from './secret-once.tsx'
import { issueFields, VALIDATION, WebhookFields } from './webhook-fields.tsx'
import { isOwnedBy, isSigned, requestOf, typesText, valuesOf } from './webhook-values.ts'

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
  return (
    <ConfirmChange
      isOpen
      close={close}
      title="Disable webhook?"
      action="Disable webhook"
      of={webhook}
      send={(options): Promise<Webhook> => answer(api.webhooks({ id: webhook.id }).disable.post({}, options))}
      changes={['webhooks', 'audit']}
      done={() => 'Webhook disabled.'}
    >
      <Text size="sm">
        It gets no events until you enable it. Then it can also get those that it missed, as far as they are still in
        the event log.
      </Text>
    </ConfirmChange>
  )
}

function RemoveWebhook({ webhook, close }: DialogProps) {
  const [, navigate] = useLocation()
  return (
    <ConfirmChange
      isOpen
      close={close}
      title="Remove webhook?"
      action="Remove webhook"
      isDangerous
      of={webhook}
      send={(options) => answer(api.webhooks({ id: webhook.id }).delete({}, options))}
      changes={['webhooks', 'audit']}
      done={() => `Webhook ${webhook.name} removed.`}
      leave={() => navigate('/webhooks')}
    >
      <Text size="sm">It gets no more events, and the record of its deliveries is removed. You can’t undo this.</Text>
    </ConfirmChange>
  )
}

function EditWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const { person } = useMe()
  const form = useForm({ initialValues: valuesOf(webhook), validate: VALIDATION })
  const sending = useFormSend({
    form,
    of: webhook,
    send: (values, options): Promise<Webhook> =>
      answer(api.webhooks({ id: webhook.id }).patch(requestOf(values), options)),
    changes: ['webhooks', 'audit'],
    done: ({ name }) => `Webhook ${name} saved.`,
    after: close,
    fields: issueFields,
  })
  return (
    <FormDialog {...sending} title={`Edit ${webhook.name}`} action="Save changes" close={close}>
      <WebhookFields form={form} isOfOther={!isOwnedBy(webhook, person.id)} />
    </FormDialog>
  )
}

/** Replaces the secret of a webhook, and shows the new one once. */
const OVERLAP = {
  label: 'Old secret stays valid for',
  choices: { 0: 'No time', 1: '1 hour', 24: '1 day', 168: '1 week' },
}

function RotateSecret({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const rotate = useSend({
    of: webhook,
    send: (hours: number, options): Promise<CreatedWebhook> =>
      answer(api.webhooks({ id: webhook.id })['rotate-secret'].post({ overlap_hours: hours }, options)),
    changes: ['webhooks', 'audit'],
    quiet: true,
  })
  return (
    <Rotation
      title={`Rotate the secret of “${webhook.name}”`}
      about="Creates a new secret. As long as the old one works, too, messages have a signature by each of them, so that you can update receivers one by one."
      overlap={OVERLAP}
      action="Rotate secret"
      rotate={rotate}
      once={({ secret }) => <SecretOnce secret={secret} />}
      close={close}
    />
  )
}

/** Enables a webhook, and sends the events that it missed if they are wanted. */
function EnableWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  const [sendsMissed, setSendsMissed] = useState(true)
  return (
    <ConfirmChange
      isOpen
      close={close}
      title="Enable webhook?"
      action="Enable webhook"
      of={webhook}
      send={(options): Promise<Webhook> =>
        answer(api.webhooks({ id: webhook.id }).enable.post({ send_missed: sendsMissed }, options))
      }
      changes={['webhooks', 'audit']}
      done={() => 'Webhook enabled.'}
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
    </ConfirmChange>
  )
}

/** Makes whoever is signed in the owner of a webhook. Shows where it sends what: an address that somebody else chose. */
function TakeOverWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
  return (
    <ConfirmChange
      isOpen
      close={close}
      title="Take over webhook?"
      action="Take over webhook"
      of={webhook}
      send={(options): Promise<Webhook> => answer(api.webhooks({ id: webhook.id })['take-over'].post({}, options))}
      changes={['webhooks', 'audit', 'inbox']}
      done={() => 'Webhook taken over.'}
    >
      <Stack gap="sm">
        <Text size="sm">
          You become its owner: it is sent the events that you may read, as long as you are an admin.
          {webhook.state === 'suspended' &&
            ' Those that waited are sent as well, in order, as far as they are still in the event log.'}
        </Text>
        <Details
          of={[
            ['Address', <bdi key="url">{webhook.url}</bdi>],
            ['Events', typesText(webhook.types)],
          ]}
        />
        <Alert color="orange" variant="light">
          Check that you know who receives events at this address.
        </Alert>
      </Stack>
    </ConfirmChange>
  )
}
