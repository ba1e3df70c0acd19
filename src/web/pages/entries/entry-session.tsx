/** The slices of an entry's session around it: the days and branches that its work was divided by. */
import { Anchor, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { dayInShort } from '../../format/moments.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { activeTimeOf, branchOf, dayOfSlice, type Entry, type EntryOrder } from '../../parts/entries/entry.ts'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { type PlainColumn, PlainTable } from '../../parts/plain-table.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { ThingLink } from '../../parts/thing-link.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { listTotalsQuery } from './entry-sums.ts'
import { Part } from './facts.tsx'

/** Entries before this one, and after it: a session may have hundreds, which its page lists. */
const AROUND = '6'

interface SessionProps {
  entry: Entry
  session: string
}

export function EntrySession({ entry, session }: SessionProps) {
  const { time_zone } = useSettings()
  // Another person may have reported a session with the same ID.
  const filter = { session_id: [session], agent_manager: [entry.agent_manager.id] }
  const { data, error, refetch } = useQuery({
    queryKey: ['entries', 'around', filter, entry.started_at],
    queryFn: async ({ signal }) => {
      const shared = { ...filter, superseded: 'false', limit: AROUND }
      const ask = (query: EntryQuery & EntryOrder) =>
        answer(apiUntil(signal)['token-entries'].get({ query: { ...shared, ...query } }))
      const [earlier, later] = await Promise.all([
        ask({ ending_at: entry.started_at }),
        ask({ starting_at: entry.started_at, order: 'asc' }),
      ])
      return { rows: [...earlier.data.toReversed(), ...later.data], isAll: !earlier.has_more && !later.has_more }
    },
  })
  if (error && !data) return <Failure error={error} retry={refetch} />
  const rows = data && (data.rows.some(({ id }) => id === entry.id) ? data.rows : [entry, ...data.rows])
  return (
    <Part title="Session" aside={<Totals filter={filter} />}>
      {!rows && <Skeleton height={96} />}
      {rows && (
        <PlainTable
          label="Entries of the session around this one"
          columns={columnsOf({ entry, rows, filter, timeZone: time_zone })}
          rows={rows}
          rowKey={({ id }) => id}
          isMuted={({ status }) => status === 'voided' || status === 'discarded'}
        />
      )}
      {entry.slice?.estimated && (
        <Note>
          Estimated: the source that knows the branches has other figures than the one that is counted, so the counted
          figures were divided between the branches as that source divides its own.
        </Note>
      )}
      {data && !data.isAll && (
        <Note>
          The session has more entries. Its page lists all of them:{' '}
          <ThingLink kind="session" of={session}>
            {session}
          </ThingLink>
        </Note>
      )}
    </Part>
  )
}

/** Of all entries of the session that reports count. */
function Totals({ filter }: { filter: EntryQuery }) {
  const { data } = useQuery(listTotalsQuery(filter, 'cost'))
  if (!data) return null
  return (
    <Text size="sm" component="div">
      <FigureLink figure="cost" value={data.cost} to={addressOf('/entries', filter)}>
        <Money amount={data.cost} />
      </FigureLink>
      {` in ${counted(data.entries, 'entry', 'entries')}`}
    </Text>
  )
}

interface Columns {
  entry: Entry
  rows: readonly Entry[]
  /** Of the list that the entries are opened in. */
  filter: EntryQuery
  timeZone: string
}

function columnsOf({ entry, rows, filter, timeZone }: Columns): PlainColumn<Entry>[] {
  const hasModels = new Set(rows.map(({ model }) => model)).size > 1
  const isTimed = rows.some(({ active_seconds }) => active_seconds !== null)
  return [
    cellColumn('day', 'Day', {}, (row) =>
      row.id === entry.id ? (
        <Text span size="sm" fw={650} aria-current="true">
          {dayInShort(dayOfSlice(row, timeZone))}
        </Text>
      ) : (
        <Anchor component={Link} href={addressOf('/entries', { ...filter, open: row.id })} size="sm">
          {dayInShort(dayOfSlice(row, timeZone))}
        </Anchor>
      ),
    ),
    cellColumn('branch', 'Branch', {}, (row) => (
      <>
        <bdi>{branchOf(row)}</bdi>
        {hasModels && <Caption>{row.model}</Caption>}
      </>
    )),
    ...(isTimed ? [cellColumn('active', 'Active', { isNumber: true }, activeTimeOf)] : []),
    cellColumn('tokens', 'Tokens', { isNumber: true }, ({ tokens }) => <Count value={tokens.total} />),
    cellColumn('cost', 'Cost', { isNumber: true }, ({ cost }) => <Money amount={cost} isFine />),
  ]
}
