import { Fieldset, Group, NumberInput, Radio, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { dayOf } from '../../format/moments.ts'
import { CurrencySelect, TimeZoneInput } from '../../parts/zone-and-currency.tsx'
import { numberExample, type SettingsValues } from './values.ts'

type SettingsForm = UseFormReturnType<SettingsValues>

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <Fieldset legend={title}>
    <Stack gap="md">{children}</Stack>
  </Fieldset>
)

export const Fields = ({ form, logo }: { form: SettingsForm; logo: ReactNode }) => (
  <>
    <Part title="Organization">
      <TextInput label="Name" description="As bills show it." maxLength={200} {...form.getInputProps('name')} />
      <Group grow align="flex-start">
        <TimeZoneInput
          label="Time zone"
          description="Days and months begin in it."
          {...form.getInputProps('time_zone')}
        />
        <CurrencySelect
          label="Bill currency"
          description="What bills are usually in."
          {...form.getInputProps('currency')}
        />
      </Group>
    </Part>
    <Part title="Entries">
      <Radio.Group
        label="A report names a project or ticket that nobody knows"
        {...form.getInputProps('unknown_projects')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="create" label="Make it" description="Every named entry is placed." />
          <Radio
            value="hold"
            label="Hold the entry"
            description="It waits in Unattributed with the name that it gave, until somebody places it."
          />
        </Stack>
      </Radio.Group>
      <Switch
        label="Only approved entries are billed"
        description="Otherwise those that are submitted are billed as well; rejected ones never."
        {...form.getInputProps('approval_required', { type: 'checkbox' })}
      />
      <Switch
        label="Telemetry belongs to the person whose e-mail address it names"
        description="With an organization token only. Whoever holds it could name anybody; entries say by what they were assigned."
        {...form.getInputProps('telemetry_by_email', { type: 'checkbox' })}
      />
    </Part>
    <Issuer form={form} logo={logo} />
    <Bills form={form} />
  </>
)

const Issuer = ({ form, logo }: { form: SettingsForm; logo: ReactNode }) => (
  <Part title="Who sends bills">
    <Textarea label="Postal address" autosize minRows={3} maxLength={1000} {...form.getInputProps('address')} />
    <Group grow align="flex-start">
      <TextInput
        label="E-mail address"
        description="Bills come from it, and answers go to it."
        type="email"
        maxLength={254}
        {...form.getInputProps('email')}
      />
      <TextInput
        label="Tax id"
        description="VAT number or the like."
        maxLength={200}
        {...form.getInputProps('tax_id')}
      />
    </Group>
    {logo}
  </Part>
)

function Bills({ form }: { form: SettingsForm }) {
  const { bill_number_format, time_zone } = form.values
  return (
    <Part title="Bills">
      <Group grow align="flex-start">
        <NumberInput
          label="Markup"
          description="Where neither project nor client has one."
          suffix=" %"
          placeholder="none"
          decimalScale={4}
          hideControls
          {...form.getInputProps('markup')}
        />
        <NumberInput
          label="Due after"
          description="Where the bill does not say so."
          suffix=" days"
          min={0}
          max={365}
          allowDecimal={false}
          hideControls
          {...form.getInputProps('due_days')}
        />
      </Group>
      <TextInput
        label="Number format"
        description="Holds {sequence} or {sequence:4} once; it begins anew by {year} or {month} where these are in it."
        spellCheck={false}
        {...form.getInputProps('bill_number_format')}
      />
      <Text size="sm" c="dimmed" mt={-8}>
        Reads {numberExample(bill_number_format, today(time_zone))}
      </Text>
      <Textarea
        label="Footer"
        description="Below every bill, such as how to pay."
        autosize
        minRows={2}
        maxLength={1000}
        {...form.getInputProps('bill_footer')}
      />
    </Part>
  )
}

/** The zone is being typed, and may be none yet. */
function today(timeZone: string): string {
  try {
    return dayOf(new Date(), timeZone)
  } catch {
    return dayOf(new Date(), 'UTC')
  }
}
