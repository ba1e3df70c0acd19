/** Adding a client, and changing one. */
import { NumberInput, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FormDialogue } from '../../parts/form-dialogue.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { CurrencySelect } from '../../parts/zone-and-currency.tsx'
import { answer, api } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import type { Client } from './project.ts'
import { numberOrNull } from './project-form.tsx'

interface Values {
  name: string
  email: string
  address: string
  tax_id: string
  currency: string | null
  /** An empty text where there is none. */
  markup: number | string
}

interface ClientFormProps {
  client?: Client
  close: () => void
  saved?: (client: Client) => void
}

export function ClientForm({ client, close, saved }: ClientFormProps) {
  const settings = useSettings()
  const form = useForm<Values>({
    initialValues: {
      name: client?.name ?? '',
      email: client?.email ?? '',
      address: client?.address ?? '',
      tax_id: client?.tax_id ?? '',
      currency: client?.currency ?? null,
      markup: client?.markup ?? '',
    },
    validate: { name: (name) => (name.trim() === '' ? 'Is required.' : null) },
  })
  const sending = useFormSend({
    form,
    send: ({ name, email, address, tax_id, currency, markup }) => {
      const body = {
        name: name.trim(),
        email: email.trim() || null,
        address: address.trim() || null,
        tax_id: tax_id.trim() || null,
        currency,
        markup: numberOrNull(markup),
      }
      return client ? answer(api.clients({ id: client.id }).patch(body)) : answer(api.clients.post(body))
    },
    changes: ['clients', 'projects', 'audit'],
    done: ({ name }) => `The client ${name} is saved.`,
    after: (changed) => {
      close()
      saved?.(changed)
    },
  })
  return (
    <FormDialogue
      {...sending}
      title={client ? `Change ${client.name}` : 'New client'}
      action={client ? 'Save' : 'Add the client'}
      close={close}
      size="lg"
    >
      <TextInput label="Name" placeholder="Acme Ltd" required data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label="E-mail address"
        description="Where its bills go. Without one they are downloaded."
        type="email"
        {...form.getInputProps('email')}
      />
      <Textarea
        label="Postal address"
        description="As bills show it, line by line."
        autosize
        minRows={3}
        {...form.getInputProps('address')}
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput label="Tax number" placeholder="DE123456789" {...form.getInputProps('tax_id')} />
        <CurrencySelect
          label="Currency of bills"
          placeholder={settings.currency}
          clearable
          {...form.getInputProps('currency')}
        />
        <NumberInput
          label="Markup (%)"
          placeholder="The organization’s"
          hideControls
          {...form.getInputProps('markup')}
        />
      </SimpleGrid>
    </FormDialogue>
  )
}
