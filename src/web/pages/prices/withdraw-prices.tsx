/** Ends the prices of a model that were set manually. */
import { Alert, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { dayOf } from '../../format/moments.ts'
import { DateField } from '../../parts/date-field.tsx'
import { Failure } from '../../parts/failure.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api, apiQuery } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { EffectiveFrom } from './effective-from.tsx'
import { type Price, priceText, providerText, sourceText, type WithdrawnPrices } from './price.ts'
import { PRICE_CHANGES } from './valuation.ts'

export function WithdrawPrices({
  of: { model, provider },
  close,
}: {
  of: Pick<Price, 'model' | 'provider'>
  close: () => void
}) {
  const { time_zone } = useSettings()
  const form = useForm<{ day: string | null }>({
    initialValues: { day: dayOf(new Date(), time_zone) },
    validate: { day: (day) => (day ? null : 'Choose a date.') },
  })
  const { day } = form.values
  const bodyOf = (until: string) => ({ model, provider, effective_until: until })
  const { data, error, refetch } = useQuery({
    ...apiQuery(['prices', 'withdrawal', provider, model, day], (api) =>
      api.prices.withdraw.post({ ...bodyOf(day!), dry_run: true }),
    ),
    enabled: day !== null,
  })
  const sending = useFormSend({
    form,
    send: (values: { day: string | null }) => answer(api.prices.withdraw.post(bodyOf(values.day!))),
    changes: PRICE_CHANGES,
    done: () => `Manual price of ${model} withdrawn.`,
    after: close,
    fields: { '/effective_until': 'day' },
  })
  return (
    <FormDialog {...sending} title={`Withdraw manual price of ${model}`} action="Withdraw" close={close}>
      <Note>Entries that already have a list value keep it. To undo this, set the price again.</Note>
      <DateField
        label="First day without it"
        description={`Starts at midnight in ${time_zone}.`}
        required
        {...form.getInputProps('day')}
      />
      {error && <Failure error={error} retry={refetch} />}
      {!data && !error && <Loading lines={1} />}
      {data && <Afterwards withdrawn={data} provider={provider} />}
    </FormDialog>
  )
}

const Afterwards = ({
  withdrawn: { after, effective_until },
  provider,
}: {
  withdrawn: WithdrawnPrices
  provider: string
}) =>
  after ? (
    <Text size="sm" aria-live="polite">
      From <EffectiveFrom at={effective_until} /> on: input {priceText(after.input)}, output {priceText(after.output)},{' '}
      {after.model} at {providerText(after.provider)} ({sourceText(after.source)}).
    </Text>
  ) : (
    <Alert color="orange" variant="light" aria-live="polite">
      From <EffectiveFrom at={effective_until} /> on, this model has no price
      {provider && ` at ${provider}`}: new entries are unpriced.
    </Alert>
  )
