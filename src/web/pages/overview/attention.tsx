/** The open issues of the period, each with a link to its entries. */
import { Paper, Skeleton, Text, Title } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { pageOfList } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { figure } from '../../parts/figure-link.tsx'
import { useRole, useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import classes from './overview.module.css'
import { addressIn, isFiltered, type Scope, type ScopeFilter } from './scope.ts'
import { type Check, useCompleteness, useTicketsToDecide } from './usage.ts'

interface Lack {
  title: string
  description: string
  /** The page to fix it on, if not the list of its entries. */
  page?: (scope: Scope) => string
  /** A filter whose place it takes, so that it is not about what the page is limited to. */
  instead?: keyof ScopeFilter
  /** Whether there is nothing to do about it. */
  isNote?: true
}

/** The checks that need action, in the order to work through them, and those that explain the others. */
export const GAPS: Partial<Record<Check['check'], Lack>> = {
  unplaced: {
    title: 'Unattributed',
    description: 'not assigned to a project or ticket',
    page: (scope) => addressIn('/unattributed', scope),
    instead: 'project',
  },
  without_client: { title: 'No client', description: 'in projects without a client to bill', instead: 'client' },
  without_project: { title: 'No project', description: 'on tickets without a project', instead: 'project' },
  unpriced: { title: 'Unpriced', description: 'cost unknown: no price for the model' },
  cost_mismatches: {
    title: 'Cost mismatch',
    description: 'reported cost more than 10 times the list value, or less than a tenth of it',
  },
  possible_duplicates: {
    title: 'Possible duplicates',
    description: 'identical to an earlier entry, or another person’s session has the same ID',
  },
  held: {
    title: 'Held entries',
    description: 'another person has reported the same session; not counted until released or discarded',
  },
  unapproved: { title: 'Waiting for approval', description: 'submitted, but not approved or billed' },
  on_sheets: { title: 'On token sheets', description: 'not counted until their sheet is approved' },
  unbilled: { title: 'Unbilled', description: 'can be billed, but not on a bill yet' },
  not_billable: { title: 'Not billable', description: 'on projects that are not billable; never billed', isNote: true },
  reaching_in: { title: 'Started before', description: 'continued into this period; counted when they started' },
  reaching_out: { title: 'Ended after', description: 'continued past this period; counted in full here' },
}

export function Attention({ scope }: { scope: Scope }) {
  const { data, error, refetch, isPlaceholderData } = useCompleteness(scope)
  const { approval_required } = useSettings()
  const toDecide = useTicketsToDecide(useRole('billing', 'admin') && !isFiltered(scope))
  const tickets = isFiltered(scope) ? 0 : (toDecide.data?.tickets ?? 0)
  const shown = data?.filter(({ check, entries }) => {
    const gap = GAPS[check]
    return entries > 0 && gap && !(gap.instead && scope.filter[gap.instead].length > 0)
  })
  const isDone = shown?.every(({ check }) => GAPS[check]!.isNote) && tickets === 0
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <Title order={2} size="h5" mb={4}>
        Needs attention
      </Title>
      {error && !data && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Skeleton height={240} />}
      {toDecide.error && !toDecide.data && <Failure problem={asProblem(toDecide.error)} retry={toDecide.refetch} />}
      {isDone && !toDecide.isLoading && !toDecide.error && (
        <Text size="sm" c="dimmed" mt="sm">
          All done: every entry in this period is assigned and priced, and approved and billed where it can be.
        </Text>
      )}
      <ul className={classes.attention}>
        {tickets > 0 && (
          <Row
            href={addressOf('/work', { tab: 'tickets', conflicting: true })}
            title="Conflicting tickets"
            description="reported under different projects"
            figure={`${tickets}${toDecide.data?.hasMore ? '+' : ''}`}
            counted={`${toDecide.data?.hasMore ? 'more than ' : ''}${counted(tickets, 'ticket')}`}
          />
        )}
        {shown?.map((check) => (
          <CheckRow key={check.check} check={check} scope={scope} isOptional={!approval_required} />
        ))}
      </ul>
    </Paper>
  )
}

function CheckRow({ check, scope, isOptional }: { check: Check; scope: Scope; isOptional: boolean }) {
  const { title, description, page } = GAPS[check.check]!
  const { time_zone } = useSettings()
  const isFree = check.check === 'unapproved' && isOptional
  return (
    <Row
      href={page ? page(scope) : pageOfList(check.list, time_zone)}
      title={isFree ? 'Not approved' : title}
      description={isFree ? 'bills do not require approval' : description}
      figure={<span {...figure('entries', check.entries)}>{count(check.entries)}</span>}
      counted={counted(check.entries, 'entry', 'entries')}
      amount={check.cost !== null && <span {...figure('cost', check.cost)}>{money(check.cost)}</span>}
    />
  )
}

interface RowProps {
  href: string
  title: string
  description: string
  figure: ReactNode
  /** The number with its unit, for screen readers. */
  counted: string
  amount?: ReactNode
}

export const Row = ({ href, title, description, figure: shown, counted, amount }: RowProps) => (
  <li>
    <Link href={href} className={classes.lack}>
      <span>
        <Text span size="sm" fw={600}>
          {title}
        </Text>
        <Text size="xs" c="dimmed">
          {description}
        </Text>
      </span>
      <span className={classes.lackFigures}>
        <Text span size="sm" fw={600} aria-label={counted}>
          {shown}
        </Text>
        <Text size="xs" c="dimmed">
          {amount}
        </Text>
      </span>
      <IconChevronRight size={16} className={classes.lackArrow} aria-hidden />
    </Link>
  </li>
)
