/** The form that adds or edits a budget. */
import { Select, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { BASIS_TITLES } from '../../../shared/cost-basis.ts'
import { type Budget, MEASURES, PERIODS } from '../../parts/budgets/budget.ts'
import { DateField } from '../../parts/date-field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { More } from '../../parts/more.tsx'
import { COST_DIGITS, CountField, DecimalField } from '../../parts/number-fields.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import {
  type BudgetValues,
  changeOf,
  EMPTY_BUDGET,
  issueFieldsOf,
  newBudgetOf,
  type People,
  valuesOf,
} from './budget-values.ts'
import type { BudgetFormState } from './form-state.ts'
import { NarrowerScopeFields, ScopeFields } from './scope-fields.tsx'
import { ThresholdFields } from './threshold-fields.tsx'

interface BudgetFormProps {
  /** The budget to edit; otherwise one is added. */
  budget?: Budget
  /** The people that its thresholds name. */
  people?: People
  close: () => void
  saved?: (budget: Budget) => void
}

export function BudgetForm({ budget, people = [], close, saved }: BudgetFormProps) {
  const { cost_basis } = useSettings()
  const form = useForm<BudgetValues>({
    initialValues: budget ? valuesOf(budget, people) : { ...EMPTY_BUDGET, basis: cost_basis },
    validate: {
      name: (name) => (budget && name.trim() === '' ? 'Enter a name.' : null),
      amount: (amount) => (amount === '' ? 'Enter an amount.' : null),
      thresholds: { percent: (percent) => (percent === '' ? 'Enter a percentage.' : null) },
    },
  })
  const sending = useFormSend({
    form,
    of: budget,
    send: (values, options): Promise<Budget> =>
      budget
        ? answer(api.budgets({ id: budget.id }).patch(changeOf(values, budget, people), options))
        : answer(api.budgets.post(newBudgetOf(values))),
    // The amount of a project's budget is also a field of the project.
    changes: ['budgets', 'projects', 'audit'],
    done: ({ name }) => `Budget ${name} saved.`,
    after: (changed) => {
      close()
      saved?.(changed)
    },
    fields: issueFieldsOf,
  })
  const isOfProject = budget?.of_project ?? false
  return (
    <FormDialog
      {...sending}
      title={budget ? `Edit ${budget.name}` : 'New budget'}
      action={budget ? 'Save changes' : 'Create budget'}
      close={close}
      size="xl"
    >
      {isOfProject ? (
        <Note>This is the budget of a project: it counts all entries of the project, at any time.</Note>
      ) : (
        <ScopeFields form={form} />
      )}
      <AmountFields form={form} isFixed={budget !== undefined} />
      <More
        isUsed={isBeyond(form.getInitialValues(), BASIC)}
        hasIssue={Object.keys(form.errors).some((path) => !BASIC.has(path))}
      >
        {!isOfProject && (
          <>
            <NarrowerScopeFields form={form} />
            <TimeFields form={form} />
          </>
        )}
        <TextInput
          label="Name"
          description={budget ? undefined : 'Defaults to what the budget is for.'}
          placeholder="Acme web, monthly"
          required={budget !== undefined}
          {...form.getInputProps('name')}
        />
        <MeasureField form={form} isFixed={budget !== undefined} />
        {form.values.measure !== 'tokens' && <BasisField form={form} isFixed={budget !== undefined} />}
        <ThresholdFields form={form} />
      </More>
      {budget && (
        <Caption>
          After a change of the amount, the days or what counts, each threshold can cause another alert. A new threshold
          that is already reached causes its alert at once.
        </Caption>
      )}
    </FormDialog>
  )
}

/** The fields that each budget needs. */
const BASIC: ReadonlySet<string> = new Set(['client', 'project', 'agent_manager', 'amount', 'period'])

/** Whether any other field has another value than in a new budget; each of an existing one has a name. */
function isBeyond(values: BudgetValues, basic: ReadonlySet<string>): boolean {
  const names = Object.keys(values) as (keyof BudgetValues)[]
  return names.some(
    (name) =>
      !basic.has(name) && name !== 'name' && JSON.stringify(values[name]) !== JSON.stringify(EMPTY_BUDGET[name]),
  )
}

/** The measure, the basis and the period of an existing budget are fixed. */
function AmountFields({ form, isFixed }: { form: BudgetFormState; isFixed: boolean }) {
  const isTokens = form.values.measure === 'tokens'
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {isTokens ? (
          <CountField label="Amount (tokens)" placeholder="10M" required {...form.getInputProps('amount')} />
        ) : (
          <DecimalField
            label="Amount (USD)"
            placeholder="2,500"
            required
            data-autofocus
            min={0}
            digits={COST_DIGITS}
            currency="USD"
            {...form.getInputProps('amount')}
          />
        )}
        <Select
          label="Period"
          data={optionsOf(PERIODS)}
          allowDeselect={false}
          disabled={isFixed}
          {...form.getInputProps('period')}
        />
      </SimpleGrid>
      {isFixed && (
        <Caption mt={-8}>
          The measure, the basis and the period can’t be changed. Create another budget instead.
        </Caption>
      )}
    </>
  )
}

const MeasureField = ({ form, isFixed }: { form: BudgetFormState; isFixed: boolean }) => (
  <Select
    label="Measure"
    description={MEASURE_NOTES[form.values.measure]}
    data={optionsOf(MEASURES)}
    allowDeselect={false}
    disabled={isFixed}
    {...form.getInputProps('measure')}
  />
)

const BasisField = ({ form, isFixed }: { form: BudgetFormState; isFixed: boolean }) => (
  <Select
    label="Basis"
    description={
      form.values.basis === 'cost'
        ? 'What agents reported, or else the list value. Each report adds to it at once.'
        : 'Counted anew each minute, with alerts.'
    }
    data={optionsOf(BASIS_TITLES)}
    allowDeselect={false}
    disabled={isFixed}
    {...form.getInputProps('basis')}
  />
)

const MEASURE_NOTES: Record<Budget['measure'], string> = {
  cost: 'What usage costs you, before markup.',
  billed_amount: 'Cost with the markup of its project, of billable entries that are not rejected.',
  tokens: 'Tokens of all kinds: input, output and cache.',
}

function TimeFields({ form }: { form: BudgetFormState }) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const { period } = form.values
  const day = { firstDayOfWeek, clearable: true }
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <DateField
          label={`First day (${time_zone})`}
          placeholder={period === 'once' ? 'None' : 'First day of the current period'}
          {...day}
          {...form.getInputProps('starts_on')}
        />
        <DateField label={`Last day (${time_zone})`} placeholder="None" {...day} {...form.getInputProps('ends_on')} />
      </SimpleGrid>
      {period !== 'once' && (
        <Switch
          label="Roll over"
          description="Unspent budget carries over to the next period."
          {...form.getInputProps('roll_over', { type: 'checkbox' })}
        />
      )}
    </>
  )
}
