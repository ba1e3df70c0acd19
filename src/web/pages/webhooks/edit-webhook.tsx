import { useForm } from '@mantine/form'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import type { Webhook } from '../../server/webhooks.ts'
import { issueFields, VALIDATION, WebhookFields } from './webhook-fields.tsx'
import { isOwnedBy, requestOf, valuesOf } from './webhook-values.ts'

export function EditWebhook({ webhook, close }: { webhook: Webhook; close: () => void }) {
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
