/** What the period still lacks, each with the list of exactly those entries. */
import { Paper, Skeleton, Text, Title } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { pageOfList } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import type { Period } from '../../parts/period.ts'
import { useRole, useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import classes from './overview.module.css'
import { type Check, useCompleteness, useTicketsToDecide } from './usage.ts'

interface Lack {
  title: string
  says: string
  /** Where it is mended, if not in the list of its entries. */
  page?: (name: string | undefined) => string
}

/** Those that somebody does something about, in the order in which one would. */
const LACKS: Partial<Record<Check['check'], Lack>> = {
  unplaced: {
    title: 'Unattributed',
    says: 'on no project and no ticket',
    page: (name) => addressOf('/unattributed', { period: name ?? '30d' }),
  },
  without_client: { title: 'Without a client', says: 'on projects that nobody is billed for' },
  without_project: { title: 'Without a project', says: 'on tickets that belong to none' },
  unpriced: { title: 'Without a price', says: 'what they cost is unknown' },
  possible_duplicates: {
    title: 'Possible duplicates',
    says: 'an earlier entry says exactly the same, or another person’s session has the same id',
  },
  unapproved: { title: 'Waiting for approval', says: 'submitted, and neither approved nor billed' },
  on_sheets: { title: 'On token sheets', says: 'not counted before their sheet is approved', page: () => '/sheets' },
  unbilled: { title: 'Not billed', says: 'on no bill yet' },
  reaching_in: { title: 'Began before', says: 'went on into this period, and count before it' },
  reaching_out: { title: 'Ended after', says: 'count whole in this period' },
}

export function Attention({ period, name }: { period: Period; name: string | undefined }) {
  const { data, error, refetch, isPlaceholderData } = useCompleteness(period)
  const { approval_required } = useSettings()
  const toDecide = useTicketsToDecide(useRole('billing', 'admin'))
  const tickets = toDecide.data?.tickets ?? 0
  const open = data?.filter(({ check, entries }) => entries > 0 && LACKS[check] !== undefined)
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <Title order={2} size="h5" mb={4}>
        Needs attention
      </Title>
      {error && !data && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Skeleton height={240} />}
      {toDecide.error && !toDecide.data && <Failure problem={asProblem(toDecide.error)} retry={toDecide.refetch} />}
      {open?.length === 0 && tickets === 0 && !toDecide.isLoading && !toDecide.error && (
        <Text size="sm" c="dimmed" mt="sm">
          Nothing: every entry of this period is placed, priced, approved and billed.
        </Text>
      )}
      <ul className={classes.attention}>
        {tickets > 0 && (
          <Row
            href={addressOf('/work', { tab: 'tickets', conflicting: true })}
            title="Tickets to decide"
            says="reports put them in different projects"
            figure={`${tickets}${toDecide.data?.hasMore ? '+' : ''}`}
            counted={`${toDecide.data?.hasMore ? 'more than ' : ''}${counted(tickets, 'ticket')}`}
          />
        )}
        {open?.map((check) => (
          <CheckRow key={check.check} check={check} name={name} isOptional={!approval_required} />
        ))}
      </ul>
    </Paper>
  )
}

function CheckRow({ check, name, isOptional }: { check: Check; name: string | undefined; isOptional: boolean }) {
  const { title, says, page } = LACKS[check.check]!
  const isFree = check.check === 'unapproved' && isOptional
  return (
    <Row
      href={page ? page(name) : pageOfList(check.list)}
      title={isFree ? 'Not approved' : title}
      says={isFree ? 'bills do not ask for it' : says}
      figure={count(check.entries)}
      counted={counted(check.entries, 'entry', 'entries')}
      amount={check.cost === null ? undefined : money(check.cost)}
    />
  )
}

interface RowProps {
  href: string
  title: string
  says: string
  figure: string
  /** The figure with what it counts, for those who hear it. */
  counted: string
  amount?: string | undefined
}

const Row = ({ href, title, says, figure, counted, amount }: RowProps) => (
  <li>
    <Link href={href} className={classes.lack}>
      <span>
        <Text span size="sm" fw={600}>
          {title}
        </Text>
        <Text size="xs" c="dimmed">
          {says}
        </Text>
      </span>
      <span className={classes.lackFigures}>
        <Text span size="sm" fw={600} aria-label={counted}>
          {figure}
        </Text>
        <Text size="xs" c="dimmed">
          {amount}
        </Text>
      </span>
      <IconChevronRight size={16} className={classes.lackArrow} aria-hidden />
    </Link>
  </li>
)
