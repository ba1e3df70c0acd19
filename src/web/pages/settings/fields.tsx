import {
  Button,
  Fieldset,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ComponentProps, ReactNode } from 'react'
import { BASIS_TITLES, COST_BASES } from '../../../shared/cost-basis.ts'
import { formatsOf } from '../../../shared/locales.ts'
import { REQUIRABLE_FIELDS, REQUIRED_LIMIT } from '../../../shared/sheet-fields.ts'
import { dayOf } from '../../format/moments.ts'
import { WEEKDAYS } from '../../format/weekdays.ts'
import { CountField, DecimalField, PERCENT_DIGITS } from '../../parts/number-fields.tsx'
import { PublicUrlInput } from '../../parts/public-url-input.tsx'
import { sharedOrigin } from '../../parts/shared-origin.ts'
import { Note } from '../../parts/texts.tsx'
import { CurrencySelect, LocaleSelect, TimeZoneInput } from '../../parts/zone-and-currency.tsx'
import { useSettings } from '../../server/me.ts'
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
      <TextInput label="Name" description="Shown on bills." {...form.getInputProps('name')} />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TimeZoneInput label="Time zone" description="For days and months." {...form.getInputProps('time_zone')} />
        <Select
          label="First day of the week"
          description="In reports and calendars."
          data={Object.entries(WEEKDAYS).map(([value, { name }]) => ({ value, label: name }))}
          allowDeselect={false}
          {...form.getInputProps('week_start')}
        />
        <LocaleSelect
          description={`In bills, e-mails and pages: ${exampleIn(form.values.locale)}`}
          without="Not set"
          {...form.getInputProps('locale')}
        />
        <CurrencySelect
          label="Bill currency"
          description="The default for bills."
          {...form.getInputProps('currency')}
        />
      </SimpleGrid>
      <PublicUrl form={form} />
    </Part>
    <Part title="Entries">
      <Radio.Group label="When a report names an unknown project or ticket" {...form.getInputProps('unknown_projects')}>
        <Stack gap="xs" mt="xs">
          <Radio value="create" label="Create it" description="Every entry that names one is assigned." />
          <Radio
            value="hold"
            label="Hold the entry"
            description="It stays in Unattributed, with the name from the report, until someone assigns it."
          />
        </Stack>
      </Radio.Group>
      <Radio.Group label="When a second person reports the same session" {...form.getInputProps('same_session')}>
        <Stack gap="xs" mt="xs">
          <Radio
            value="hold"
            label="Hold it"
            description="Its entries are not counted until someone releases or discards them. Applies only to random session IDs."
          />
          <Radio value="count" label="Count both" description="The later entries are marked as possible duplicates." />
        </Stack>
      </Radio.Group>
      <TagsInput
        label="Required fields of token sheets"
        description={`Up to ${REQUIRED_LIMIT} fields that people must fill in for entries they add by hand. Type label:team for a label.`}
        placeholder={form.values.sheet_required_fields.length === 0 ? 'None' : undefined}
        data={Object.keys(REQUIRABLE_FIELDS)}
        maxTags={REQUIRED_LIMIT}
        renderOption={({ option }) => (
          <span>
            {REQUIRABLE_FIELDS[option.value as keyof typeof REQUIRABLE_FIELDS]} <Note span>{option.value}</Note>
          </span>
        )}
        {...form.getInputProps('sheet_required_fields')}
      />
      <Switch
        label="Bill approved entries only"
        description="Otherwise, submitted entries are billed as well. Rejected entries are never billed."
        {...form.getInputProps('approval_required', { type: 'checkbox' })}
      />
      <Select
        label="Cost basis"
        description="How pages, the command line and e-mails count cost, unless another basis is chosen. With allocated cost, people who may not see fees get the reported cost, or else the list value."
        data={COST_BASES.map((basis) => ({ value: basis, label: BASIS_TITLES[basis] }))}
        allowDeselect={false}
        {...form.getInputProps('cost_basis')}
      />
      <Switch
        label="Show allocated cost to leads"
        description="Leads see the allocated cost of the entries that they can see, from which fees can be inferred. The plans themselves stay visible to billing and admins only."
        {...form.getInputProps('leads_see_fees', { type: 'checkbox' })}
      />
      <Switch
        label="Allow API tokens"
        description="People can create tokens with which scripts do what they choose, as far as their role allows, such as managing projects. When you turn this off, existing ones stop working."
        {...form.getInputProps('api_tokens', { type: 'checkbox' })}
      />
      <Switch
        label="Allow share links"
        description="People can create links that show one report or bill, as far as they can see it, to anyone who has the link. Links expire. When you turn this off, existing ones stop working."
        {...form.getInputProps('share_links', { type: 'checkbox' })}
      />
      <Switch
        label="Let leads create rules"
        description="Rules that leads propose for the repositories of their projects take effect at once, after all other rules. Otherwise, an admin decides about each. When you turn this off, the rules that leads have created stay in effect."
        {...form.getInputProps('lead_rules', { type: 'checkbox' })}
      />
      <Switch
        label="Assign telemetry by e-mail address"
        description="Telemetry pushed with an organization token belongs to the person whose e-mail address it contains. Anyone who holds such a token can send any address; each entry shows how it was assigned."
        {...form.getInputProps('telemetry_by_email', { type: 'checkbox' })}
      />
    </Part>
    <Issuer form={form} logo={logo} />
    <Bills form={form} />
    <Retention form={form} />
  </>
)

/** A day and an amount as documents write them. */
function exampleIn(locale: string): string {
  const { day, decimal } = formatsOf(locale || null)
  return `${day('2026-11-21')} and ${decimal('1234.50', 2)}`
}

/** Offers the address of this page, which works for whoever is looking at it. */
function PublicUrl({ form }: { form: SettingsForm }) {
  const { public_url_option: option } = useSettings()
  const offer = form.values.public_url === '' && option === null ? sharedOrigin() : ''
  return (
    <div>
      <PublicUrlInput
        description="The address at which people and agents reach Tally. Links in invitations, e-mails, webhooks and share links begin with it."
        {...form.getInputProps('public_url')}
      />
      {option !== null && (
        <Text size="sm" mt={4}>
          This server was started with the public URL <b>{option}</b> (TALLY_PUBLIC_URL), which takes precedence.
        </Text>
      )}
      {offer !== '' && (
        <Button variant="subtle" size="compact-sm" mt={4} onClick={() => form.setFieldValue('public_url', offer)}>
          Use {offer}
        </Button>
      )}
    </div>
  )
}

const Issuer = ({ form, logo }: { form: SettingsForm; logo: ReactNode }) => (
  <Part title="Billing details">
    <Textarea label="Postal address" autosize minRows={3} {...form.getInputProps('address')} />
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <TextInput
        label="E-mail address"
        description="Sender and reply address of bills."
        type="email"
        {...form.getInputProps('email')}
      />
      <TextInput label="Tax ID" description="VAT number or equivalent." {...form.getInputProps('tax_id')} />
    </SimpleGrid>
    {logo}
  </Part>
)

function Bills({ form }: { form: SettingsForm }) {
  const { bill_number_format, time_zone } = form.values
  return (
    <Part title="Bills">
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <DecimalField
          label="Markup"
          description="Default of projects and clients."
          unit="%"
          placeholder="None"
          digits={PERCENT_DIGITS}
          {...form.getInputProps('markup')}
        />
        <CountField
          label="Due after"
          description="Used if the bill sets no due date."
          unit="days"
          max={365}
          {...form.getInputProps('due_days')}
        />
        <CountField
          label="Remind after"
          description="Days overdue before the first reminder, and between reminders."
          placeholder="No reminders"
          unit="days"
          min={1}
          max={90}
          {...form.getInputProps('reminder_days')}
        />
      </SimpleGrid>
      <TextInput
        label="Number format"
        description="Must contain {sequence} or {sequence:4} once. With {year} or {month}, numbering restarts in each."
        spellCheck={false}
        {...form.getInputProps('bill_number_format')}
      />
      <Note mt={-8}>Example: {numberExample(bill_number_format, today(time_zone))}</Note>
      <Textarea
        label="Footer"
        description="Shown at the bottom of every bill, such as payment instructions."
        autosize
        minRows={2}
        {...form.getInputProps('bill_footer')}
      />
    </Part>
  )
}

const Retention = ({ form }: { form: SettingsForm }) => (
  <Part title="Retention">
    <Text size="sm">
      Once a day, the server removes what is older, for good. Tokens, costs, entries and bills are always kept.
    </Text>
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Months label="Summaries and labels" description="Of entries." {...form.getInputProps('retention_texts')} />
      <Months
        label="Session IDs"
        description="Replaced by hashes. Sessions can continue."
        {...form.getInputProps('retention_session_ids')}
      />
      <Months
        label="History of entries"
        description="At least 12 months."
        {...form.getInputProps('retention_history')}
      />
      <Months label="Audit log" description="At least 12 months." {...form.getInputProps('retention_audit')} />
      <Months label="Events" description="For programs that follow them." {...form.getInputProps('retention_events')} />
    </SimpleGrid>
  </Part>
)

const Months = (props: ComponentProps<typeof CountField>) => (
  <CountField placeholder="Keep" unit="months" min={1} max={120} {...props} />
)

/** Today in the zone, or in UTC while an incomplete zone is being typed. */
function today(timeZone: string): string {
  try {
    return dayOf(new Date(), timeZone)
  } catch {
    return dayOf(new Date(), 'UTC')
  }
}
