/** The entries that a bill leaves out, by reason, with links to them. */
import { Anchor, Paper, Table, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { addDays } from '../../format/moments.ts'
import { Money } from '../../parts/figures.tsx'
import { ownPeriod } from '../../parts/period.ts'
import type { BillDocument } from './bill-body.ts'

type Reason = keyof BillDocument['left_out']

interface Said {
  title: string
  /** What to do to bill these entries. */
  advice: string
  href: (scope: Scope) => string
}

/** Filters for the entries in the bill's scope. */
interface Scope {
  client: string | undefined
  project: string | undefined
  period: string
  /** The last day before the period, and everything before it. */
  before: string
}

const entries =
  (filters: Parameters<typeof addressOf>[1]) =>
  ({ before: _, ...scope }: Scope) =>
    addressOf('/entries', { ...scope, ...filters })

const REASONS: Record<Reason, Said> = {
  unpriced: {
    title: 'Unpriced',
    advice: 'Their cost is unknown. Set a price for their models.',
    href: entries({ priced: 'false' }),
  },
  not_approved: { title: 'Not approved', advice: 'Approve them to bill them.', href: entries({ status: 'submitted' }) },
  on_sheets: {
    title: 'On token sheets',
    advice: 'Their token sheets are not approved yet.',
    href: entries({ status: ['draft', 'pending'] }),
  },
  rejected: {
    title: 'Rejected',
    advice: 'Reopen any entry that was rejected by mistake.',
    href: entries({ status: 'rejected' }),
  },
  not_billable: { title: 'Not billable', advice: 'Their projects are marked as not billable.', href: entries({}) },
  earlier: {
    title: 'Before this period',
    advice: 'Unbilled entries left for another bill.',
    href: ({ before, ...scope }) => addressOf('/entries', { ...scope, period: before, bill: 'none' }),
  },
  unattributed: {
    title: 'Unattributed',
    advice: 'Not assigned to a project. Some may belong to this client.',
    href: () => '/unattributed',
  },
  without_client: {
    title: 'In projects without a client',
    advice: 'Assign these projects to a client.',
    href: () => addressOf('/work', { client: 'none' }),
  },
  without_project: {
    title: 'On tickets without a project',
    advice: 'Assign these tickets to a project.',
    href: () => addressOf('/work', { tab: 'tickets', project: 'none' }),
  },
}

/** A day before any entry can exist. */
const BEGINNING = '2000-01-01'

export function LeftOut({ document }: { document: BillDocument }) {
  const { left_out, scope, period } = document
  const found = (Object.keys(REASONS) as Reason[]).filter((reason) => left_out[reason].entries > 0)
  if (found.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing is left out: the bill includes every entry in its scope and period.
      </Text>
    )
  }
  const filters: Scope = {
    client: scope.project ? undefined : scope.client?.id,
    project: scope.project?.key,
    period: ownPeriod(period),
    before: ownPeriod({ from: BEGINNING, to: addDays(period.from, -1) }),
  }
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h6" mb={4}>
        Not on this bill
      </Title>
      <Table fz="sm" verticalSpacing={4} horizontalSpacing={0}>
        <Table.Tbody>
          {found.map((reason) => (
            <Table.Tr key={reason}>
              <Table.Td>
                <Anchor component={Link} href={REASONS[reason].href(filters)} size="sm">
                  {REASONS[reason].title}
                </Anchor>
                <Text size="xs" c="dimmed">
                  {REASONS[reason].advice}
                </Text>
              </Table.Td>
              <Table.Td ta="right" style={{ whiteSpace: 'nowrap', verticalAlign: 'top' }}>
                {left_out[reason].at_least && 'more than '}
                {count(left_out[reason].entries)} {left_out[reason].entries === 1 ? 'entry' : 'entries'}
                {reason !== 'unpriced' && (
                  <>
                    , <Money amount={left_out[reason].cost} />
                  </>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}
