/** The form that creates or edits a client. */
import { SimpleGrid, Switch, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { counted } from '../../format/counts.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { DecimalField, PERCENT_DIGITS } from '../../parts/number-fields.tsx'
import { issueFieldsOf, namesOf, PeopleField, peopleOf } from '../../parts/people-field.tsx'
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
  /** An empty string if there is none. */
  markup: number | string
  reminders: boolean
  tax_percent: number | string
  tax_name: string
  /** Names of current people, e-mail addresses of new ones. */
  leads: string[]
  approvers: string[]
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
      reminders: client?.reminders ?? true,
      tax_percent: client?.tax_percent ?? '',
      tax_name: client?.tax_name ?? '',
      leads: namesOf(client?.leads),
      approvers: namesOf(client?.approvers),
    },
    validate: { name: (name) => (name.trim() === '' ? 'Required.' : null) },
  })
  const sending = useFormSend({
    form,
    of: client,
    send: (
      { name, email, address, tax_id, currency, markup, reminders, tax_percent, tax_name, leads, approvers },
      options,
    ) => {
      const body = {
        name: name.trim(),
        email: email.trim() || null,
        address: address.trim() || null,
        tax_id: tax_id.trim() || null,
        currency,
        markup: numberOrNull(markup),
        reminders,
        tax_percent: numberOrNull(tax_percent),
        tax_name: tax_name.trim() || null,
        leads: peopleOf(leads, client?.leads),
        approvers: peopleOf(approvers, client?.approvers),
      }
      return client ? answer(api.clients({ id: client.id }).patch(body, options)) : answer(api.clients.post(body))
    },
    changes: ['clients', 'projects', 'me', 'audit'],
    done: ({ name }) => `Client ${name} saved.`,
    after: (changed) => {
      close()
      saved?.(changed)
    },
    fields: ({ leads, approvers }) => ({
      ...issueFieldsOf('leads', leads),
      ...issueFieldsOf('approvers', approvers),
    }),
  })
  return (
    <FormDialog
      {...sending}
      title={client ? `Edit ${client.name}` : 'New client'}
      action={client ? 'Save changes' : 'Create client'}
      close={close}
      size="lg"
    >
      <TextInput label="Name" placeholder="Acme Ltd" required data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label="E-mail address"
        description="Bills are sent to this address. Without one, download them instead."
        type="email"
        {...form.getInputProps('email')}
      />
      <Switch
        label="Remind of overdue bills by e-mail"
        description={
          settings.reminder_days
            ? `Every ${counted(settings.reminder_days, 'day')}.`
            : 'Reminders are off in the settings.'
        }
        {...form.getInputProps('reminders', { type: 'checkbox' })}
      />
      <Textarea
        label="Postal address"
        description="Shown on bills, line by line."
        autosize
        minRows={3}
        {...form.getInputProps('address')}
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput label="Tax ID" placeholder="DE123456789" {...form.getInputProps('tax_id')} />
        <CurrencySelect
          label="Bill currency"
          placeholder={settings.currency}
          clearable
          {...form.getInputProps('currency')}
        />
        <DecimalField
          label="Markup (%)"
          placeholder="Organization default"
          unit="%"
          digits={PERCENT_DIGITS}
          {...form.getInputProps('markup')}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <DecimalField
          label="Tax rate (%)"
          placeholder="That of its last bill"
          description="Suggested for new bills. 0 for no tax."
          min={0}
          max={100}
          unit="%"
          digits={PERCENT_DIGITS}
          {...form.getInputProps('tax_percent')}
        />
        <TextInput
          label="Tax name"
          placeholder="VAT"
          description="As shown on bills."
          {...form.getInputProps('tax_name')}
        />
      </SimpleGrid>
      <PeopleField
        label="Leads"
        description="Leads of a client lead all of its projects, also future ones. Type e-mail addresses and press Enter after each."
        {...form.getInputProps('leads')}
      />
      <PeopleField
        label="Approvers"
        description="Approvers can approve the entries and token sheets of all of its projects."
        {...form.getInputProps('approvers')}
      />
    </FormDialog>
  )
}
