/** What of a thing somebody should look at: each check that finds entries, with a link to them. */
import { Paper, Skeleton, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { count, counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { type EntryQuery, pageOfList } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { figure } from '../../parts/figure-link.tsx'
import { asBounds, type Period } from '../../parts/period.ts'
import { answer, apiUntil } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { GAPS, Row } from '../overview/attention.tsx'
import classes from './things.module.css'

/** They are about the period, not about the thing. */
const OF_THE_PERIOD: readonly string[] = ['reaching_in', 'reaching_out']

export function Attention({ filter, period }: { filter: EntryQuery; period: Period }) {
  const { approval_required, time_zone } = useSettings()
  const query = { ...filter, ...asBounds(period) }
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['reports', 'completeness', query],
    queryFn: async ({ signal }) => (await answer(apiUntil(signal).reports.completeness.get({ query }))).data,
    placeholderData: keepPreviousData,
  })
  // A check that replaces a filter of the thing is about other entries.
  const open = data?.filter(({ check, entries }) => {
    const gap = GAPS[check]
    const isOfOthers = gap?.instead !== undefined && Object.hasOwn(filter, gap.instead)
    return entries > 0 && gap && !gap.isNote && !isOfOthers && !OF_THE_PERIOD.includes(check)
  })
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <Title order={2} size="h5" mb={4}>
        Needs attention
      </Title>
      {error && !data && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Skeleton height={160} />}
      {open?.length === 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          All done: every entry in this period is assigned, priced, approved and billed.
        </Text>
      )}
      <ul className={classes.attention}>
        {open?.map(({ check, entries, cost, list }) => {
          const isFree = check === 'unapproved' && !approval_required
          const { title, description } = GAPS[check]!
          return (
            <Row
              key={check}
              href={pageOfList(list, time_zone)}
              title={isFree ? 'Not approved' : title}
              description={isFree ? 'bills do not require approval' : description}
              figure={<span {...figure('entries', entries)}>{count(entries)}</span>}
              counted={counted(entries, 'entry', 'entries')}
              amount={cost !== null && <span {...figure('cost', cost)}>{money(cost)}</span>}
            />
          )
        })}
      </ul>
    </Paper>
  )
}
