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
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import classes from './overview.module.css'
import { type Check, useCompleteness } from './usage.ts'

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
  possible_duplicates: { title: 'Possible duplicates', says: 'an earlier entry says exactly the same' },
  unapproved: { title: 'Waiting for approval', says: 'submitted, and neither approved nor billed' },
  on_sheets: { title: 'On token sheets', says: 'not counted before their sheet is approved', page: () => '/sheets' },
  unbilled: { title: 'Not billed', says: 'on no bill yet' },
  reaching_in: { title: 'Began before', says: 'went on into this period, and count before it' },
  reaching_out: { title: 'Ended after', says: 'count whole in this period' },
}

export function Attention({ period, name }: { period: Period; name: string | undefined }) {
  const { data, error, refetch, isPlaceholderData } = useCompleteness(period)
  const { approval_required } = useSettings()
  const open = data?.filter(({ check, entries }) => entries > 0 && LACKS[check] !== undefined)
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <Title order={2} size="h5" mb={4}>
        Needs attention
      </Title>
      {error && !data && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Skeleton height={240} />}
      {open?.length === 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          Nothing: every entry of this period is placed, priced, approved and billed.
        </Text>
      )}
      <ul className={classes.attention}>
        {open?.map((check) => (
          <Row key={check.check} check={check} name={name} isOptional={!approval_required} />
        ))}
      </ul>
    </Paper>
  )
}

function Row({ check, name, isOptional }: { check: Check; name: string | undefined; isOptional: boolean }) {
  const { title, says, page } = LACKS[check.check]!
  const isFree = check.check === 'unapproved' && isOptional
  return (
    <li>
      <Link href={page ? page(name) : pageOfList(check.list)} className={classes.lack}>
        <span>
          <Text span size="sm" fw={600}>
            {isFree ? 'Not approved' : title}
          </Text>
          <Text size="xs" c="dimmed">
            {isFree ? 'bills do not ask for it' : says}
          </Text>
        </span>
        <span className={classes.lackFigures}>
          <Text span size="sm" fw={600} aria-label={counted(check.entries, 'entry', 'entries')}>
            {count(check.entries)}
          </Text>
          <Text size="xs" c="dimmed">
            {check.cost !== null && money(check.cost)}
          </Text>
        </span>
        <IconChevronRight size={16} className={classes.lackArrow} aria-hidden />
      </Link>
    </li>
  )
}
