/** The form that ends a plan after a day, or lets it continue. */
import { useForm } from '@mantine/form'
import { DateField } from '../../parts/date-field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import type { Plan } from './plan.ts'
import { ProrateField } from './plan-fields.tsx'
import { CHANGES } from './plan-form.tsx'
import { type PlanValues, prorateOf } from './plan-values.ts'
import { PreviewChanges } from './preview.tsx'

interface EndValues extends Pick<PlanValues, 'prorate'> {
  on: string | null
}

const FIELDS = { '/ends_on': 'on' }

export function EndForm({ plan, close }: { plan: Plan; close: () => void }) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const form = useForm<EndValues>({
    initialValues: { on: plan.ends_on ?? plan.current_period?.to ?? null, prorate: '' },
  })
  const sending = useFormSend({
    form,
    of: plan,
    send: async ({ on, ...values }, options) =>
      (await answer(api.plans({ id: plan.id }).end.post({ on, ...prorateOf(values) }, options))) as Plan,
    changes: CHANGES,
    done: ({ name, ends_on }) => (ends_on === null ? `Plan ${name} continues.` : `The end of plan ${name} is saved.`),
    after: close,
    fields: FIELDS,
  })
  return (
    <FormDialog
      {...sending}
      title={plan.ends_on === null ? `End ${plan.name}` : `Change the end of ${plan.name}`}
      action="Save"
      close={close}
    >
      <DateField
        label={`Last day (${time_zone})`}
        description="The plan is kept with its periods. Without a last day, it continues."
        placeholder="None"
        clearable
        firstDayOfWeek={firstDayOfWeek}
        data-autofocus
        {...form.getInputProps('on')}
      />
      <ProrateField form={form} />
      <PreviewChanges
        form={form}
        fields={FIELDS}
        ask={({ on, ...values }) =>
          answer(api.plans({ id: plan.id }).end.post({ on, ...prorateOf(values), dry_run: true }))
        }
      />
    </FormDialog>
  )
}
