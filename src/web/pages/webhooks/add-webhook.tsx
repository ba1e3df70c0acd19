import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import type { CreatedWebhook } from '../../server/webhooks.ts'
import { SecretOnce } from './secret-once.tsx'
import { issueFields, VALIDATION, WebhookFields } from './webhook-fields.tsx'
import { isSigned, requestOf, valuesOf } from './webhook-values.ts'

/** Adds a webhook, and shows its secret once. */
export function AddWebhook({ close }: { close: () => void }) {
  const [, navigate] = useLocation()
  const [added, setAdded] = useState<CreatedWebhook | null>(null)
  if (!added) return <WebhookForm close={close} added={setAdded} />
  const open = () => navigate(`/webhooks/${added.id}`)
  return (
    <Modal opened onClose={open} title={`Webhook “${added.name}”`} closeOnClickOutside={false} closeOnEscape={false}>
      <Stack>
        {isSigned(added.format) ? (
          <SecretOnce secret={added.secret} />
        ) : (
          <Text size="sm">The webhook is added. Send a test to see whether its messages arrive.</Text>
        )}
        <Group justify="flex-end">
          <Button onClick={open}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function WebhookForm({ close, added }: { close: () => void; added: (webhook: CreatedWebhook) => void }) {
  const form = useForm({ initialValues: valuesOf(), validate: VALIDATION })
  const sending = useFormSend({
    form,
    send: (values): Promise<CreatedWebhook> => answer(api.webhooks.post(requestOf(values))),
    changes: ['webhooks', 'audit'],
    after: added,
    fields: issueFields,
  })
  return (
    <FormDialog {...sending} title="Add webhook" action="Add webhook" close={close}>
      <WebhookFields form={form} />
    </FormDialog>
  )
}
