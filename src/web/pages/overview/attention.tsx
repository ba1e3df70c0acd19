/** The open issues of the period, each with a link to its entries. */
import { Anchor, Paper, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { Failure } from '../../parts/failure.tsx'
import { figure } from '../../parts/figure-link.tsx'
import { CheckRow, completenessQuery, GAPS, OpenChecks, OpenRow } from '../../parts/open-checks.tsx'
import { CardTitle, Note } from '../../parts/texts.tsx'
import { useInbox } from '../../server/inbox.ts'
import { useRole } from '../../server/me.ts'
import { addressIn, boundsOf, isFiltered, type Scope } from './scope.ts'
import { useTicketsToDecide } from './usage.ts'

/** Of all periods; own entries, for example, wait for others. */
function ForYou() {
  const { data } = useInbox()
  const waiting = data?.data.filter(({ kind }) => kind === 'entries_to_approve') ?? []
  const entries = waiting.reduce((sum, { count }) => sum + count, 0)
  if (entries === 0) return null
  return (
    <Anchor component={Link} href="/inbox" size="xs" display="inline-block" mb={6}>
      {count(entries)} for you to approve
    </Anchor>
  )
}

export function Attention({ scope }: { scope: Scope }) {
  const { data, error, refetch, isPlaceholderData } = useQuery(completenessQuery(boundsOf(scope)))
  const toDecide = useTicketsToDecide(useRole('billing', 'admin') && !isFiltered(scope))
  const tickets = isFiltered(scope) ? 0 : (toDecide.data?.tickets ?? 0)
  const shown = data?.filter(({ check, entries }) => {
    const gap = GAPS[check]
    return entries > 0 && gap && !(gap.instead && scope.filter[gap.instead].length > 0)
  })
  const isDone = shown?.every(({ check }) => GAPS[check]!.isNote) && tickets === 0
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <CardTitle mb={4}>Needs attention</CardTitle>
      {error && !data && <Failure error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={240} />}
      {toDecide.error && !toDecide.data && <Failure error={toDecide.error} retry={toDecide.refetch} />}
      {isDone && !toDecide.isLoading && !toDecide.error && (
        <Note mt="sm">
          All done: every entry in this period is assigned and priced, and approved and billed where it can be.
        </Note>
      )}
      <OpenChecks>
        {tickets > 0 && (
          <OpenRow
            href={addressOf('/work', { tab: 'tickets', conflicting: true })}
            title="Conflicting tickets"
            description="reported under different projects"
            figure={toDecide.data?.hasMore ? `${tickets}+` : <span {...figure('tickets', tickets)}>{tickets}</span>}
            counted={`${toDecide.data?.hasMore ? 'more than ' : ''}${counted(tickets, 'ticket')}`}
          />
        )}
        {shown?.map((check) => {
          const page = GAPS[check.check]!.page
          return (
            <CheckRow
              key={check.check}
              check={check}
              href={page && addressIn(page, scope)}
              more={check.check === 'unapproved' && <ForYou />}
            />
          )
        })}
      </OpenChecks>
    </Paper>
  )
}
