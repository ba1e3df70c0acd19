/** What of the period this person can decide, and what else is to be known of its figures. */
import { Paper, Skeleton } from '@mantine/core'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { Failure } from '../../parts/failure.tsx'
import { figure } from '../../parts/figure-link.tsx'
import { Checks, GAPS, OpenRow } from '../../parts/open-checks.tsx'
import { CardTitle, Note } from '../../parts/texts.tsx'
import { useInbox } from '../../server/inbox.ts'
import { addressIn, isFiltered } from './scope.ts'
import type { Shown } from './usage.ts'

/** Of all periods; they are decided in the Inbox, where own ones wait for others. */
const TO_APPROVE = {
  entries_to_approve: { title: 'Entries to approve', unit: ['entry', 'entries'] },
  sheets_to_approve: { title: 'Token sheets to approve', unit: ['sheet', 'sheets'] },
} as const

function ToApprove({ kind, waiting }: { kind: keyof typeof TO_APPROVE; waiting: number }) {
  const { title, unit } = TO_APPROVE[kind]
  return (
    <OpenRow
      href="/inbox"
      title={title}
      description="waiting for your approval, in any period"
      figure={count(waiting)}
      counted={counted(waiting, unit[0], unit[1])}
    />
  )
}

export function Attention({ scope, data, isStale }: Shown) {
  const inbox = useInbox()
  const waitingOf = (kind: string) =>
    isFiltered(scope)
      ? 0
      : (inbox.data?.data ?? []).reduce((sum, item) => sum + (item.kind === kind ? item.count : 0), 0)
  const tickets = waitingOf('conflicting_tickets')
  const kinds = Object.keys(TO_APPROVE) as (keyof typeof TO_APPROVE)[]
  const toApprove = kinds.map((kind) => ({ kind, waiting: waitingOf(kind) })).filter(({ waiting }) => waiting > 0)
  const shown = data?.completeness.data.filter(({ check, entries }) => {
    const { instead } = GAPS[check] ?? {}
    return entries > 0 && !(instead && scope.filter[instead].length > 0)
  })
  return (
    <Paper withBorder p="md" h="100%" opacity={isStale ? 0.55 : 1}>
      <CardTitle mb={4}>Needs attention</CardTitle>
      {!data && <Skeleton height={240} />}
      {inbox.error && !inbox.data && <Failure error={inbox.error} retry={inbox.refetch} />}
      {shown && !inbox.isLoading && (
        <Checks
          checks={shown}
          addressOf={(page) => addressIn(page, scope)}
          empty={!inbox.error && <Note mt="sm">Nothing in this period needs a decision from you.</Note>}
        >
          {(toApprove.length > 0 || tickets > 0) && (
            <>
              {toApprove.map((each) => (
                <ToApprove key={each.kind} {...each} />
              ))}
              {tickets > 0 && (
                <OpenRow
                  href={addressOf('/work', { tab: 'tickets', conflicting: true })}
                  title="Conflicting tickets"
                  description="reported under different projects"
                  figure={<span {...figure('tickets', tickets)}>{count(tickets)}</span>}
                  counted={counted(tickets, 'ticket')}
                />
              )}
            </>
          )}
        </Checks>
      )}
    </Paper>
  )
}
