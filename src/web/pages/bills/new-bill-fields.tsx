/** The form for a new bill. Empty fields use the defaults of its project, client and organization. */
import {
  Accordion,
  ActionIcon,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { DatePickerInput, MonthPickerInput } from '@mantine/dates'
import type { UseFormReturnType } from '@mantine/form'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { BASIS_TITLES, COST_BASES, type CostBasis } from '../../../shared/cost-basis.ts'
import { dayInWords, dayOf } from '../../format/moments.ts'
import { daysFormatter, monthFormatter } from '../../parts/date-field.tsx'
import { CountField, DecimalField, PERCENT_DIGITS } from '../../parts/number-fields.tsx'
import { ClientPicker, ProjectPicker } from '../../parts/pickers.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Caption } from '../../parts/texts.tsx'
import { CurrencySelect } from '../../parts/zone-and-currency.tsx'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import type { UsualTerms } from './bill-terms.ts'
import type { BillValues } from './new-bill-values.ts'

export type BillForm = UseFormReturnType<BillValues>

interface NewBillFieldsProps {
  form: BillForm
  /** The bill's currency; undefined until its scope is known. */
  currency: string | undefined
  terms: UsualTerms | undefined
}

export const NewBillFields = ({ form, currency, terms }: NewBillFieldsProps) => (
  <Stack gap="md">
    <WhatAndWhen form={form} />
    <Currency form={form} currency={currency} terms={terms} />
    <Basis form={form} terms={terms} />
    {terms?.last_bill && (
      <Caption>
        Tax, basis, grouping and payment terms are those of bill {terms.last_bill.number}, unless the client’s settings
        say otherwise.
      </Caption>
    )}
    <Accordion
      multiple
      variant="separated"
      order={2}
      chevronPosition="left"
      styles={{ label: { fontSize: 14, fontWeight: 500, paddingBlock: 10 } }}
    >
      <Accordion.Item value="amounts">
        <Accordion.Control>Lines and amounts</Accordion.Control>
        <Accordion.Panel>
          <Amounts form={form} />
        </Accordion.Panel>
      </Accordion.Item>
      <Accordion.Item value="words">
        <Accordion.Control>Notes and terms</Accordion.Control>
        <Accordion.Panel>
          <Words form={form} />
        </Accordion.Panel>
      </Accordion.Item>
      <Accordion.Item value="delivery">
        <Accordion.Control>Delivery by e-mail</Accordion.Control>
        <Accordion.Panel>
          <Delivery form={form} />
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  </Stack>
)

function WhatAndWhen({ form }: { form: BillForm }) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const today = dayOf(new Date(), time_zone)
  const { scope, span, client, project } = form.values
  return (
    <Stack gap="xs">
      <SegmentedControl
        aria-label="Bill scope"
        fullWidth
        data={optionsOf({ client: 'A client', project: 'A project', everything: 'Everything' })}
        {...form.getInputProps('scope')}
      />
      {scope === 'client' && (
        <ClientPicker
          label="Client"
          value={client}
          change={(choice) => form.setFieldValue('client', choice)}
          placeholder="Search by name"
          error={form.errors.client}
        />
      )}
      {scope === 'project' && (
        <ProjectPicker
          label="Project"
          value={project}
          change={(choice) => form.setFieldValue('project', choice)}
          placeholder="Search by key or name"
          error={form.errors.project}
        />
      )}
      <Group gap="xs" wrap="nowrap" align="flex-end">
        {span === 'month' ? (
          <MonthPickerInput
            label={`Month (${time_zone})`}
            valueFormatter={monthFormatter}
            maxDate={today}
            flex={1}
            {...form.getInputProps('month')}
          />
        ) : (
          <DatePickerInput
            type="range"
            allowSingleDateInRange
            label={`First and last day (${time_zone})`}
            valueFormatter={daysFormatter}
            maxDate={today}
            firstDayOfWeek={firstDayOfWeek}
            flex={1}
            {...form.getInputProps('days')}
            error={form.errors.days ?? form.errors.period}
          />
        )}
        <SegmentedControl
          aria-label="Period type"
          data={optionsOf({ month: 'Month', days: 'Days' })}
          {...form.getInputProps('span')}
        />
      </Group>
    </Stack>
  )
}

const Currency = ({ form, currency, terms }: NewBillFieldsProps) => (
  <Group gap="xs" align="flex-start" grow>
    <CurrencySelect
      label="Currency"
      placeholder={currency ?? 'Client default'}
      clearable
      allowDeselect
      {...form.getInputProps('currency')}
    />
    {currency !== undefined && currency !== 'USD' && (
      <DecimalField
        label={`${currency} per US dollar`}
        placeholder="0.92"
        description={rateInWords(form.values.exchange_rate, terms)}
        digits={10}
        min={0}
        {...form.getInputProps('exchange_rate')}
      />
    )}
  </Group>
)

/** Rates age: a remembered one says of which day it is. */
const rateInWords = (typed: number | string, terms: UsualTerms | undefined) =>
  terms?.exchange_rate && Number(typed) === terms.exchange_rate.rate
    ? `Rate of ${dayInWords(terms.exchange_rate.on)}`
    : undefined

/** What entries cost on the bill. */
const BASES: Record<CostBasis, string> = {
  cost: 'What agents reported, or else the list value.',
  list: 'What the API would ask for.',
  marginal: 'What was paid in addition to plan fees: 0 within a plan, and charges beyond its allowance.',
  allocated: 'The marginal cost, and the share of each entry in the fee of its plan.',
}

function Basis({ form, terms }: Pick<NewBillFieldsProps, 'form' | 'terms'>) {
  const { basis } = form.values
  const last = terms?.last_bill
  return (
    <div>
      <Select
        label="Basis"
        description={BASES[basis]}
        data={COST_BASES.map((one) => ({ value: one, label: BASIS_TITLES[one] }))}
        allowDeselect={false}
        {...form.getInputProps('basis')}
      />
      {last && last.basis !== basis && (
        <Caption c="var(--mantine-color-orange-text)" mt={4}>
          Bill {last.number} was by {BASIS_TITLES[last.basis].toLowerCase()}. Corrections of shares may concern entries
          that earlier bills have by another basis.
        </Caption>
      )}
    </div>
  )
}

const GROUPS = [
  { value: 'project', label: 'project' },
  { value: 'ticket', label: 'ticket' },
  { value: 'model', label: 'model' },
  { value: 'agent_manager', label: 'agent_manager' },
  { value: 'agent_name', label: 'agent_name' },
]

const Amounts = ({ form }: { form: BillForm }) => (
  <Stack gap="xs">
    <TagsInput
      label="Group lines by"
      description="Up to four. For a label, enter its name, such as label:team."
      data={GROUPS}
      maxTags={4}
      {...form.getInputProps('group_by')}
    />
    <Group gap="xs" grow align="flex-start">
      <DecimalField
        label="Markup"
        description="Overrides the default"
        unit="%"
        digits={PERCENT_DIGITS}
        {...form.getInputProps('markup')}
      />
      <Stack gap="xs" mt={44}>
        <Switch label="Show cost and markup" {...form.getInputProps('show_cost', { type: 'checkbox' })} />
        <Switch label="Show hours of agent work" {...form.getInputProps('show_active_time', { type: 'checkbox' })} />
      </Stack>
    </Group>
    <Group gap="xs" grow align="flex-start">
      <TextInput label="Tax name" placeholder="VAT" {...form.getInputProps('tax_name')} />
      <DecimalField
        label="Tax rate"
        unit="%"
        digits={PERCENT_DIGITS}
        min={0}
        max={100}
        {...form.getInputProps('tax_percent')}
      />
    </Group>
    <ExtraLines form={form} />
  </Stack>
)

/** No currency has smaller units (ISO 4217). */
const EXTRA_LINE_DIGITS = 4

function ExtraLines({ form }: { form: BillForm }) {
  const { extra_lines } = form.values
  const isIncomplete = extra_lines.some(({ text, amount }) => text.trim() === '' || amount === '')
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        Extra lines
      </Text>
      <Stack gap="xs">
        {extra_lines.map((_, index) => (
          // Lines have no id while they are edited.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Group key={index} gap={4} wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Description of extra line ${index + 1}`}
              placeholder="Setup fee"
              flex={1}
              {...form.getInputProps(`extra_lines.${index}.text`)}
            />
            <DecimalField
              aria-label={`Amount of extra line ${index + 1}`}
              placeholder="Amount"
              digits={EXTRA_LINE_DIGITS}
              currency={form.values.currency ?? undefined}
              w={110}
              styles={{ input: { textAlign: 'right' } }}
              {...form.getInputProps(`extra_lines.${index}.amount`)}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={`Remove extra line ${index + 1}`}
              onClick={() => form.removeListItem('extra_lines', index)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
        {isIncomplete && (
          <Caption>
            Lines without a description or an amount are left out. Enter a negative amount for a discount.
          </Caption>
        )}
        <Button
          size="xs"
          variant="default"
          w="fit-content"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('extra_lines', { text: '', amount: '' })}
        >
          Add line
        </Button>
      </Stack>
    </div>
  )
}

const Words = ({ form }: { form: BillForm }) => (
  <Stack gap="xs">
    <Textarea label="Note above the lines" autosize minRows={2} {...form.getInputProps('note')} />
    <Group gap="xs" grow align="flex-start">
      <TextInput label="Purchase order" {...form.getInputProps('purchase_order')} />
      <CountField label="Due after" unit="days" placeholder="Default" max={365} {...form.getInputProps('due_days')} />
    </Group>
    <TextInput label="Replaces voided bill" placeholder="Bill number" {...form.getInputProps('replaces')} />
  </Stack>
)

const Delivery = ({ form }: { form: BillForm }) => (
  <Stack gap="xs">
    <SegmentedControl
      aria-label="Recipients"
      fullWidth
      data={optionsOf({ client: 'Client', others: 'Other addresses', nobody: 'No one' })}
      {...form.getInputProps('deliver')}
    />
    {form.values.deliver === 'others' && (
      <TagsInput
        label="E-mail addresses"
        description="Press Enter after each address."
        placeholder="bills@acme.example"
        splitChars={[',', ' ', ';']}
        maxTags={10}
        acceptValueOnBlur
        {...form.getInputProps('deliver_to')}
      />
    )}
    {form.values.deliver === 'nobody' ? (
      <Caption>Download the PDF after you send the bill.</Caption>
    ) : (
      <Textarea label="Message" placeholder="Default message" autosize minRows={2} {...form.getInputProps('message')} />
    )}
  </Stack>
)
