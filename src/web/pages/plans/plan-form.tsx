/** The forms that add a plan, edit it, and change its terms from a day on. */
import { Select } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { dayOf } from '../../format/moments.ts'
import { exactMoney } from '../../format/money.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { More } from '../../parts/more.tsx'
import { Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api, apiQuery } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import type { Plan } from './plan.ts'
import {
  AllowanceFields,
  CoverageFields,
  PeopleFields,
  PriceFields,
  ProductFields,
  ProrateField,
  RareFields,
  SharingFields,
  SourceFields,
} from './plan-fields.tsx'
import {
  commonValuesOf,
  detailsChangeOf,
  EMPTY_PLAN,
  issueFieldsOf,
  newPlanOf,
  type PlanValues,
  prorateOf,
  termsOf,
  valuesOf,
} from './plan-values.ts'
import { PreviewChanges } from './preview.tsx'

export const CHANGES = ['plans', 'audit'] as const

const REQUIRED = {
  vendor: (text: string) => (text.trim() === '' ? 'Enter who sells it.' : null),
  product: (text: string) => (text.trim() === '' ? 'Enter what it is called.' : null),
  people: { person: (person: unknown) => (person === null ? 'Choose a person.' : null) },
}
const REQUIRED_TERMS = {
  from: (day: string | null) => (day === null ? 'Choose a day.' : null),
  fee: (fee: number | string) => (fee === '' ? 'Enter a fee. It can be 0.' : null),
  seats: (seats: number | string) => (seats === '' ? 'Enter a number of seats.' : null),
  rows: { text: (text: string) => (text === '' ? 'Enter a pattern; * matches everything.' : null) },
}

interface FormProps {
  close: () => void
  saved?: (plan: Plan) => void
}

export function NewPlanForm({ close, saved }: FormProps) {
  const form = useForm<PlanValues>({ initialValues: EMPTY_PLAN, validate: { ...REQUIRED, ...REQUIRED_TERMS } })
  const sending = useFormSend({
    form,
    send: async (values) => (await answer(api.plans.post(newPlanOf(values)))) as Plan,
    changes: CHANGES,
    done: ({ name }) => `Plan ${name} added.`,
    after: (plan) => {
      close()
      saved?.(plan)
    },
    fields: issueFieldsOf,
  })
  return (
    <FormDialog {...sending} title="New plan" action="Create plan" close={close} size="xl">
      <CommonPlanField take={(values) => form.setValues(values)} />
      <ProductFields form={form} />
      <PriceFields form={form} fromLabel="First day" />
      <PeopleFields form={form} />
      <CoverageFields form={form} />
      <More isUsed={false} hasIssue={Object.keys(form.errors).some((path) => RARE.test(path))}>
        <AllowanceFields form={form} />
        <SharingFields form={form} />
        <SourceFields form={form} />
        <RareFields form={form} />
      </More>
      <PreviewChanges
        form={form}
        fields={issueFieldsOf}
        ask={(values) => answer(api.plans.post({ ...newPlanOf(values), dry_run: true }))}
      />
    </FormDialog>
  )
}

/** The fields that few plans need. */
const RARE = /^(allowance|overage|pooled|weight|source|vendor_codes|note)/

/** Fills the form once: nothing connects the plan with the table afterwards. */
function CommonPlanField({ take }: { take: (values: Partial<PlanValues>) => void }) {
  const { data } = useQuery({
    ...apiQuery(['plans', 'common'], (api) => api['common-plans'].get()),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const plans = data?.data ?? []
  const groups = Map.groupBy(plans, ({ vendor }) => vendor)
  return (
    <Select
      label="Common plan"
      description="Fills the form once. Check the price: its source and date are below."
      placeholder="None"
      data-autofocus
      clearable
      data={[...groups].map(([group, items]) => ({
        group,
        items: items.map(({ code, product, fee }) => ({
          value: code,
          label: `${product}, ${exactMoney(fee)} per month`,
        })),
      }))}
      onChange={(code) => {
        const plan = plans.find((one) => one.code === code)
        if (plan) take(commonValuesOf(plan))
      }}
    />
  )
}

interface PlanFormProps extends FormProps {
  plan: Plan
}

/** Edits what does not depend on a day. */
export function DetailsForm({ plan, close }: PlanFormProps) {
  const form = useForm<PlanValues>({
    initialValues: valuesOf(plan, null),
    validate: { ...REQUIRED, name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  })
  const sending = useFormSend({
    form,
    of: plan,
    send: async (values, options) =>
      (await answer(api.plans({ id: plan.id }).patch(detailsChangeOf(values, plan), options))) as Plan,
    changes: CHANGES,
    done: ({ name }) => `Plan ${name} saved.`,
    after: close,
    fields: issueFieldsOf,
  })
  return (
    <FormDialog {...sending} title={`Edit ${plan.name}`} action="Save changes" close={close} size="xl">
      <ProductFields form={form} isNamed />
      <PeopleFields form={form} />
      <RareFields form={form} />
      <PreviewChanges
        form={form}
        fields={issueFieldsOf}
        ask={(values) => answer(api.plans({ id: plan.id }).patch({ ...detailsChangeOf(values, plan), dry_run: true }))}
      />
    </FormDialog>
  )
}

/** Changes the terms from a day on, or corrects those that begin on it. */
export function TermsForm({ plan, close, from }: PlanFormProps & { from?: string }) {
  const { time_zone } = useSettings()
  const today = dayOf(new Date(), time_zone)
  const form = useForm<PlanValues>({
    initialValues: { ...valuesOf(plan, from ?? today), from: from ?? null },
    validate: REQUIRED_TERMS,
  })
  const sending = useFormSend({
    form,
    of: plan,
    send: async (values, options) =>
      (await answer(api.plans({ id: plan.id }).patch({ ...termsOf(values), ...prorateOf(values) }, options))) as Plan,
    changes: CHANGES,
    done: ({ name }) => `Terms of ${name} saved.`,
    after: close,
    fields: issueFieldsOf,
  })
  return (
    <FormDialog
      {...sending}
      title={`${from === undefined ? 'Change' : 'Correct'} the terms of ${plan.name}`}
      action="Save terms"
      close={close}
      size="xl"
    >
      <Note>
        {from === undefined
          ? 'The new terms apply from this day, on which a new period begins. Earlier periods stay as they are.'
          : 'This corrects the terms from their first day.'}
      </Note>
      <PriceFields form={form} fromLabel="From" isFixed={from !== undefined} />
      <ProrateField form={form} />
      <CoverageFields form={form} />
      <AllowanceFields form={form} />
      <SharingFields form={form} />
      <SourceFields form={form} />
      <PreviewChanges
        form={form}
        fields={issueFieldsOf}
        ask={(values) =>
          answer(api.plans({ id: plan.id }).patch({ ...termsOf(values), ...prorateOf(values), dry_run: true }))
        }
      />
    </FormDialog>
  )
}
