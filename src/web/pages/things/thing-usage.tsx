/** The usage of a thing: totals, over time, what needs attention, by everything else, and its entries. */
import { Button, Grid, Group, NativeSelect, Paper, SegmentedControl, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useAddress } from '../../address.ts'
import { dayOf } from '../../format/moments.ts'
import { widthFor, widthsFor } from '../../parts/charts/buckets.ts'
import { Empty } from '../../parts/empty.tsx'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { Checks, completenessQuery, GAPS } from '../../parts/open-checks.tsx'
import { asBounds, type Period, periodBefore } from '../../parts/period.ts'
import { PeriodPicker } from '../../parts/period-picker.tsx'
import { CardTitle, Note } from '../../parts/texts.tsx'
import { type Dimension, titleOf } from '../../parts/usage/dimensions.ts'
import { measureOf } from '../../parts/usage/measures.ts'
import { usualBasis } from '../../server/cost-basis.ts'
import { useMe, useRole, useSettings } from '../../server/me.ts'
import { ReportChart } from '../reports/report-chart.tsx'
import { Breakdown } from './breakdown.tsx'
import { dimensionOf, firstStartQuery, groupsQuery, USAGE_ADDRESS } from './first-requests.ts'
import type { UsageOf } from './kinds.ts'
import { RecentEntries } from './recent-entries.tsx'
import { ThingTotals } from './thing-totals.tsx'
import { periodInAddress, usagePeriodOf } from './usage-period.ts'

const MEASURES = ['cost', 'tokens'] as const

export interface ThingUsageProps {
  of: UsageOf
  /** The days of something that is over, instead of a period to choose. */
  span?: Period
  /** Whether the page lists the entries itself. */
  hasEntries?: boolean
}

export function ThingUsage({ of: { filter, by, usual }, span, hasEntries = true }: ThingUsageProps) {
  const me = useMe()
  const { time_zone } = me.settings
  const basis = usualBasis(me)
  const seesAll = useRole('billing', 'admin')
  const [address, show] = useAddress(USAGE_ADDRESS)
  const chosen = usagePeriodOf(span ? undefined : address.period, usual, time_zone)
  const first = useFirstDay(filter, chosen.name === undefined && !span)
  const totals = useQuery(groupsQuery(filter, chosen.period, by[0], basis))
  const previous = chosen.name === undefined || span ? undefined : periodBefore(chosen.period, chosen.name)
  const before = useQuery({
    ...groupsQuery(filter, previous ?? chosen.period, by[0], basis),
    enabled: previous !== undefined,
  })
  // The chart begins with the first entry, not at the beginning of time.
  const charted = span ?? (chosen.name === undefined ? first : chosen.period)
  const width = charted && widthFor(charted, address.bucket)
  const widths = charted ? widthsFor(charted) : []
  const dimension = dimensionOf(by, address.by)
  const { measure } = address
  if (totals.error && !totals.data) return <Failure error={totals.error} retry={totals.refetch} />
  return (
    <Stack gap="md">
      <Group gap="xs" className="tally-no-print">
        {!span && (
          <PeriodPicker
            size="xs"
            isOptional
            value={chosen.name}
            change={(value) => show({ period: periodInAddress(value, usual) })}
          />
        )}
        {widths.length > 1 && (
          <NativeSelect
            size="xs"
            data={widths}
            value={width}
            onChange={({ currentTarget }) => show({ bucket: currentTarget.value })}
            aria-label="Granularity"
          />
        )}
        <NativeSelect
          size="xs"
          data={by.map((value) => ({ value, label: `By ${titleOf(value).toLowerCase()}` }))}
          value={dimension}
          onChange={({ currentTarget }) =>
            show({ by: currentTarget.value === by[0] ? undefined : (currentTarget.value as Dimension) })
          }
          aria-label="Break down by"
        />
        <SegmentedControl
          size="xs"
          data={MEASURES.map((value) => ({ value, label: measureOf(value, basis).title }))}
          value={measure}
          onChange={(value) => show({ measure: value === 'cost' ? undefined : (value as typeof measure) })}
          aria-label="Measure"
        />
      </Group>
      {!seesAll && (
        <Note>
          Only the entries that you can see are counted: your own, and those of projects that you lead or approve.
        </Note>
      )}
      <ThingTotals
        filter={filter}
        basis={basis}
        totals={totals.data?.totals}
        before={previous && { period: previous, totals: before.data?.totals }}
        period={chosen}
        isStale={totals.isPlaceholderData}
      />
      {totals.data?.totals.entries === 0 ? (
        <NoUsage
          hasPeriod={chosen.name !== undefined}
          showAll={() => show({ period: periodInAddress(undefined, usual) })}
        />
      ) : (
        <>
          <Grid gap="md">
            <Grid.Col span={{ base: 12, lg: 8 }}>
              {charted && width ? (
                <ReportChart
                  question={{
                    measure,
                    basis,
                    by: dimension,
                    second: undefined,
                    width,
                    period: charted,
                    earlier: undefined,
                    filter,
                  }}
                  groupsPeriod={chosen.period}
                  kind="stacked"
                  title={`${measureOf(measure, basis).title} over time by ${titleOf(dimension).toLowerCase()}`}
                  fitsEntries={span !== undefined}
                  hasTable
                />
              ) : (
                <Skeleton height={400} />
              )}
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 4 }}>
              <Attention filter={filter} period={chosen.period} />
            </Grid.Col>
          </Grid>
          <Grid gap="md">
            {by.map((dimension) => (
              <Grid.Col key={dimension} span={{ base: 12, sm: 6, lg: by.length % 3 === 0 ? 4 : 3 }}>
                <Breakdown {...{ filter, dimension, measure, basis }} period={chosen} />
              </Grid.Col>
            ))}
          </Grid>
        </>
      )}
      {hasEntries && totals.data?.totals.entries !== 0 && (
        <RecentEntries filter={filter} basis={basis} period={chosen} count={totals.data?.totals.entries} />
      )}
    </Stack>
  )
}

/** From the first entry until today; undefined until it is known. */
function useFirstDay(filter: EntryQuery, enabled: boolean): Period | undefined {
  const { time_zone } = useSettings()
  const { data } = useQuery({ ...firstStartQuery(filter), enabled })
  if (!enabled || data === undefined) return undefined
  const today = dayOf(new Date(), time_zone)
  const from = data === null ? today : dayOf(new Date(data), time_zone)
  // An agent's clock may be ahead.
  return from > today ? { from, to: from } : { from, to: today }
}

const NoUsage = ({ hasPeriod, showAll }: { hasPeriod: boolean; showAll: () => void }) =>
  hasPeriod ? (
    <Empty
      title="No usage in this period"
      action={
        <Button variant="light" onClick={showAll}>
          Show any time
        </Button>
      }
    >
      Choose a longer period to see earlier usage.
    </Empty>
  ) : (
    <Empty title="No usage yet">Usage appears here when agents report entries that you can see.</Empty>
  )

/** They are about the period, not about the thing. */
const OF_THE_PERIOD: readonly string[] = ['reaching_in', 'reaching_out']

/** What of a thing this person can decide, and what else is to be known of its figures. */
function Attention({ filter, period }: { filter: EntryQuery; period: Period }) {
  const { data, error, refetch, isPlaceholderData } = useQuery(completenessQuery({ ...filter, ...asBounds(period) }))
  // A check that replaces a filter of the thing is about other entries.
  const open = data?.filter(({ check, entries }) => {
    const gap = GAPS[check]
    const isOfOthers = gap?.instead !== undefined && Object.hasOwn(filter, gap.instead)
    return entries > 0 && !isOfOthers && !OF_THE_PERIOD.includes(check)
  })
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <CardTitle mb={4}>Needs attention</CardTitle>
      {error && !data && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={160} />}
      {open && <Checks checks={open} empty={<Note mt="sm">Nothing in this period needs a decision from you.</Note>} />}
    </Paper>
  )
}
