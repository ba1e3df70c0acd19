/** The fields of plans. */
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { DateField } from '../../parts/date-field.tsx'
import { COST_DIGITS, CountField, DecimalField } from '../../parts/number-fields.tsx'
import { type Choice, PersonPicker } from '../../parts/pickers.tsx'
import { RuleConditions } from '../../parts/rule-conditions.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Caption } from '../../parts/texts.tsx'
import { CurrencySelect } from '../../parts/zone-and-currency.tsx'
import { useFirstDayOfWeek, useRole, useSettings } from '../../server/me.ts'
import { PERIODS, WEIGHTS } from './plan.ts'
import type { PlanValues } from './plan-values.ts'
import classes from './plans.module.css'

export type PlanForm = UseFormReturnType<PlanValues>
interface FieldsProps {
  form: PlanForm
}

/** As many as the API takes. */
const RATE_DIGITS = 10

/** @param props.isNamed whether the name must be given */
export const ProductFields = ({ form, isNamed = false }: FieldsProps & { isNamed?: boolean }) => (
  <SimpleGrid cols={{ base: 1, sm: 3 }} verticalSpacing="xs">
    <TextInput label="Vendor" placeholder="Anthropic" required {...form.getInputProps('vendor')} />
    <TextInput label="Product" placeholder="Claude Max" required {...form.getInputProps('product')} />
    <TextInput
      label="Name"
      placeholder={isNamed ? undefined : form.values.product || 'Claude Max, Ada'}
      required={isNamed}
      {...form.getInputProps('name')}
    />
  </SimpleGrid>
)

interface PriceFieldsProps extends FieldsProps {
  fromLabel: string
  /** Whether the first day is fixed. */
  isFixed?: boolean
}

export function PriceFields({ form, fromLabel, isFixed = false }: PriceFieldsProps) {
  const { time_zone } = useSettings()
  const { currency } = form.values
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} verticalSpacing="xs">
      <DateField
        label={`${fromLabel} (${time_zone})`}
        required
        disabled={isFixed}
        firstDayOfWeek={useFirstDayOfWeek()}
        {...form.getInputProps('from')}
      />
      <DecimalField
        label="Fee per seat, without tax"
        placeholder="100"
        required
        min={0}
        digits={COST_DIGITS}
        currency={currency}
        {...form.getInputProps('fee')}
      />
      <Select label="Period" data={optionsOf(PERIODS)} allowDeselect={false} {...form.getInputProps('period')} />
      <CountField label="Seats" required min={1} {...form.getInputProps('seats')} />
      <CurrencySelect label="Currency" {...form.getInputProps('currency')} />
      {currency !== 'USD' && (
        <DecimalField
          label={`${currency} per US dollar`}
          placeholder="0.92"
          required
          min={0}
          digits={RATE_DIGITS}
          {...form.getInputProps('exchange_rate')}
        />
      )}
    </SimpleGrid>
  )
}

/** Shown once a day cuts a period, which the server finds out. */
export const ProrateField = ({
  form,
}: {
  form: Pick<UseFormReturnType<Pick<PlanValues, 'prorate'>>, 'errors' | 'values' | 'getInputProps'>
}) =>
  (form.errors.prorate !== undefined || form.values.prorate !== '') && (
    <Select
      label="Fee of the shortened period"
      placeholder="Choose"
      required
      data={optionsOf({ yes: 'In proportion to its days', no: 'In full' })}
      {...form.getInputProps('prorate')}
    />
  )

const Fieldset = ({ title, note, children }: { title: string; note: ReactNode; children: ReactNode }) => (
  <Stack gap="xs" component="fieldset" className={classes.fieldset}>
    <Text component="legend" size="sm" fw={600}>
      {title}
    </Text>
    <Caption>{note}</Caption>
    {children}
  </Stack>
)

export function PeopleFields({ form }: FieldsProps) {
  const day = { clearable: true, firstDayOfWeek: useFirstDayOfWeek() }
  const input = (at: number, name: string) => form.getInputProps(`people.${at}.${name}`)
  return (
    <Fieldset
      title="Used by"
      note="Leave empty if everyone in the organization uses it. When somebody leaves, set their last day."
    >
      {form.values.people.map((_, at) => (
        // Rows have no id.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <div key={at} className={classes.person}>
          <PersonField label={`Person ${at + 1}`} {...input(at, 'person')} />
          <DateField
            aria-label={`Person ${at + 1}: first day`}
            placeholder="First day"
            {...day}
            {...input(at, 'from')}
          />
          <DateField
            aria-label={`Person ${at + 1}: last day`}
            placeholder="No last day"
            {...day}
            {...input(at, 'to')}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={4}
            aria-label={`Remove person ${at + 1}`}
            onClick={() => form.removeListItem('people', at)}
          >
            <IconX size={16} />
          </ActionIcon>
        </div>
      ))}
      {form.errors.people && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {form.errors.people}
        </Text>
      )}
      <Group>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem('people', { person: null, from: null, to: null })}
        >
          Add person
        </Button>
      </Group>
    </Fieldset>
  )
}

interface PersonFieldProps {
  label: string
  value?: Choice | null
  onChange?: (choice: Choice | null) => void
  error?: ReactNode
}

/** Only admins can search people; others type an e-mail address. */
function PersonField({ label, value = null, onChange = () => {}, error }: PersonFieldProps) {
  const seesPeople = useRole('admin')
  const field = { 'aria-label': label, placeholder: 'ada@example.com', error }
  if (seesPeople) return <PersonPicker value={value} change={onChange} {...field} />
  return (
    <TextInput
      {...field}
      value={value?.label ?? ''}
      onChange={({ currentTarget: { value: text } }) =>
        onChange(text === '' ? null : { value: text.trim(), label: text })
      }
    />
  )
}

export const CoverageFields = ({ form }: FieldsProps) => (
  <RuleConditions form={form} title="Covers usage that matches all conditions" mayBeEmpty />
)

const UNITS = { usd: 'US dollars at API prices', tokens: 'Tokens', requests: 'Requests' }

export function AllowanceFields({ form }: FieldsProps) {
  const { allowance_unit, currency, allowance } = form.values
  const Field = allowance_unit === 'usd' ? DecimalField : CountField
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} verticalSpacing="xs">
      <Field
        label="Included usage per seat"
        placeholder="No known limit"
        min={0}
        digits={COST_DIGITS}
        {...(allowance_unit === 'usd' && { currency: 'USD' })}
        {...form.getInputProps('allowance')}
      />
      <Select label="Unit" data={optionsOf(UNITS)} allowDeselect={false} {...form.getInputProps('allowance_unit')} />
      <DecimalField
        label={`Overage price (${currency})`}
        placeholder="None charged"
        min={0}
        digits={COST_DIGITS}
        currency={currency}
        disabled={allowance === ''}
        {...form.getInputProps('overage_price')}
      />
    </SimpleGrid>
  )
}

export const SharingFields = ({ form }: FieldsProps) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing="xs">
    <Select
      label="Divide the fee by"
      data={optionsOf(WEIGHTS)}
      allowDeselect={false}
      {...form.getInputProps('weight')}
    />
    <Checkbox
      label="People share all seats"
      description="Otherwise each person has a seat, and unused seats are not allocated."
      {...form.getInputProps('pooled', { type: 'checkbox' })}
    />
  </SimpleGrid>
)

export const SourceFields = ({ form }: FieldsProps) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing="xs">
    <TextInput
      label="Source of the price"
      placeholder="https://example.com/pricing"
      {...form.getInputProps('source_url')}
    />
    <DateField
      label="Price read on"
      clearable
      firstDayOfWeek={useFirstDayOfWeek()}
      {...form.getInputProps('source_day')}
    />
  </SimpleGrid>
)

export const RareFields = ({ form }: FieldsProps) => (
  <>
    <TagsInput
      label="Vendor codes"
      description="What agents call the plan. Press Enter after each."
      placeholder={form.values.vendor_codes.length === 0 ? 'codex:pro' : undefined}
      {...form.getInputProps('vendor_codes')}
    />
    <Textarea label="Note" autosize minRows={2} {...form.getInputProps('note')} />
  </>
)
