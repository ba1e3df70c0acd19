/** What of a thing somebody should look at: each check that finds entries, with a link to them. */
import { Paper, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { CheckRow, completenessQuery, GAPS, OpenChecks } from '../../parts/open-checks.tsx'
import { asBounds, type Period } from '../../parts/period.ts'
import { CardTitle, Note } from '../../parts/texts.tsx'
import { asProblem } from '../../server/problem.ts'

/** They are about the period, not about the thing. */
const OF_THE_PERIOD: readonly string[] = ['reaching_in', 'reaching_out']

export function Attention({ filter, period }: { filter: EntryQuery; period: Period }) {
  const { data, error, refetch, isPlaceholderData } = useQuery(completenessQuery({ ...filter, ...asBounds(period) }))
  // A check that replaces a filter of the thing is about other entries.
  const open = data?.filter(({ check, entries }) => {
    const gap = GAPS[check]
    const isOfOthers = gap?.instead !== undefined && Object.hasOwn(filter, gap.instead)
    return entries > 0 && gap && !gap.isNote && !isOfOthers && !OF_THE_PERIOD.includes(check)
  })
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <CardTitle mb={4}>Needs attention</CardTitle>
      {error && !data && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Skeleton height={160} />}
      {open?.length === 0 && (
        <Note mt="sm">All done: every entry in this period is assigned, priced, approved and billed.</Note>
      )}
      <OpenChecks>
        {open?.map((check) => (
          <CheckRow key={check.check} check={check} />
        ))}
      </OpenChecks>
    </Paper>
  )
}
