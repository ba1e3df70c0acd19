/** The bills of a month: what is left to do, each client's bill, previews side by side, and sending one by one. */
import { Alert, Group, Skeleton, Stack } from '@mantine/core'
import { MonthPickerInput } from '@mantine/dates'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { addressOf, useAddress } from '../../address.ts'
import { dayInWords, dayOf, monthInWords } from '../../format/moments.ts'
import { monthFormatter } from '../../parts/date-field.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { CardTitle, Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import { RUN_ADDRESS, runQuery } from './first-requests.ts'
import { chosenRows, keyOf, lastMonth, type Outcome } from './run-body.ts'
import { RunChecks } from './run-checks.tsx'
import { RunChoices } from './run-choices.tsx'
import { RunPreviews } from './run-previews.tsx'
import { RunRows } from './run-rows.tsx'
import { SendRun } from './send-run.tsx'
import { BillSums } from './sums.tsx'

export function BillingRun() {
  const { time_zone } = useSettings()
  const [address, show] = useAddress(RUN_ADDRESS)
  const { earlier, unpriced, basis, provisional, rate, preview } = address
  const month = address.month ?? lastMonth(time_zone)
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...runQuery(address, time_zone),
    placeholderData: (before) => before,
  })
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Outcome>>>({})
  const toggle = (key: string) =>
    show({ preview: preview.includes(key) ? preview.filter((other) => other !== key) : [...preview, key] })
  return (
    <Page
      title="Billing run"
      above={{ href: '/bills', title: 'Bills' }}
      lead="All bills of a month. Your progress is saved."
      actions={
        data && (
          <SendRun
            run={data}
            rows={chosenRows(data.data, chosen)}
            isDisabled={isPlaceholderData}
            note={(key, outcome) => setOutcomes((before) => ({ ...before, [key]: outcome }))}
            done={() => choose(new Set())}
          />
        )
      }
    >
      <Group gap="md" align="flex-end">
        <MonthPickerInput
          label={`Month (${time_zone})`}
          valueFormatter={monthFormatter}
          maxDate={dayOf(new Date(), time_zone)}
          w={200}
          value={`${month}-01`}
          onChange={(day) => {
            choose(new Set())
            setOutcomes({})
            show({ month: day?.slice(0, 7), preview: [] })
          }}
        />
        {data && (
          <RunChoices
            rows={data.data}
            earlier={earlier}
            isUnpricedLeft={unpriced}
            basis={basis}
            isProvisional={provisional}
            rates={rate}
            show={(changes) => show(changes, { replace: true })}
          />
        )}
      </Group>
      {error && !isPlaceholderData && !data && <Failure error={error} retry={refetch} />}
      {error && data && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={320} />}
      {data && (
        <Stack gap="lg" opacity={isPlaceholderData ? 0.55 : 1}>
          {!data.period_is_over && (
            <Alert color="orange" variant="light" title={`The month lasts until ${dayInWords(data.period.to)}`}>
              What is recorded for the rest of it needs further bills.
            </Alert>
          )}
          <Stack gap={4}>
            <BillSums
              title={monthInWords(`${month}-01`)}
              query={{ month }}
              listOf={(state) => addressOf('/bills', { state, month })}
            />
            <BillSums title="All time" query={{}} listOf={(state) => addressOf('/bills', { state })} />
          </Stack>
          <RunChecks run={data} />
          <div>
            <CardTitle mb="xs">Bills</CardTitle>
            <RunRows
              rows={data.data}
              chosen={chosen}
              choose={choose}
              outcomes={outcomes}
              previewed={preview}
              toggle={toggle}
            />
          </div>
          <RunPreviews
            rows={data.data.filter((row) => preview.includes(keyOf(row)))}
            outcomes={outcomes}
            close={toggle}
          />
          {preview.length === 1 && <Note>Open another preview to see both next to each other.</Note>}
        </Stack>
      )}
    </Page>
  )
}
