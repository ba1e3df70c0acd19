/** One session, by the id that its harness gave it: its parts, when each ran, and what it used. */
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { dayOf, duration } from '../../format/moments.ts'
import { countColumn, fineMoneyColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Empty } from '../../parts/empty.tsx'
import { type Entry, placeKey } from '../../parts/entries/entry.ts'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Note, SectionTitle } from '../../parts/texts.tsx'
import { ThingLink } from '../../parts/thing-link.tsx'
import { useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { SOURCES } from '../entries/entry-facts.tsx'
import { sessionQuery } from './first-requests.ts'
import { usageOf } from './kinds.ts'
import { ThingUsage } from './thing-usage.tsx'
import classes from './things.module.css'

export function SessionPage({ name }: { name: string }) {
  const { data, error, refetch } = useQuery(sessionQuery(name))
  return (
    <Page title={name} lead="Session" above={{ href: '/entries', title: 'Entries' }}>
      {error && !data && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Loading />}
      {data?.data.length === 0 && <Empty title="No such session">No entry that you can see has this session ID.</Empty>}
      {data && data.data.length > 0 && <Session name={name} parts={data.data} hasMore={data.has_more} />}
    </Page>
  )
}

/** Moments in ISO 8601 sort as texts. */
const earliest = (moments: readonly string[]): string => moments.toSorted()[0]!
const latest = (moments: readonly string[]): string => moments.toSorted().at(-1)!

interface SessionProps {
  name: string
  parts: Entry[]
  hasMore: boolean
}

function Session({ name, parts, hasMore }: SessionProps) {
  const { time_zone } = useSettings()
  const [, navigate] = useLocation()
  const from = earliest(parts.map(({ started_at }) => started_at))
  const to = latest(parts.map(({ ended_at }) => ended_at))
  const people = new Map(parts.map(({ agent_manager }) => [agent_manager.id, agent_manager.name]))
  const harnesses = new Set(parts.map(({ agent_harness }) => agent_harness))
  const agents = new Set(parts.map(({ agent_name }) => agent_name))
  return (
    <>
      <Details
        of={[
          ['Agent manager', <Several key="people" kind="person" of={[...people]} />],
          ['Agent', <Several key="agents" kind="agent" of={[...agents].map((agent) => [agent, agent])} />],
          ['Harness', <bdi key="harness">{[...harnesses].join(', ')}</bdi>],
          ['Started', <Moment key="from" at={from} />],
          ['Ended', <Moment key="to" at={to} />],
          ['Duration', duration(from, to)],
        ]}
      />
      {people.size > 1 && (
        <Note>{people.size} people have reported a session with this ID. Each of them has a session of their own.</Note>
      )}
      <ThingUsage
        of={usageOf('session', name)}
        span={{
          from: dayOf(new Date(from), time_zone),
          to: dayOf(new Date(latest(parts.map(({ started_at }) => started_at))), time_zone),
        }}
        hasEntries={false}
      />
      <Stack gap="xs">
        <SectionTitle>Parts</SectionTitle>
        <Note>
          {`${hasMore ? 'The first ' : ''}${counted(parts.length, 'entry', 'entries')}, one for each model, and more if the session continued after an entry was approved or billed.`}
        </Note>
        <DataTable
          label="Parts of the session"
          name="session-parts"
          list={parts}
          rowKey={({ id }) => id}
          open={({ id }) => navigate(addressOf('/entries', { session_id: name, open: id }))}
          isMuted={({ superseded }) => superseded}
          empty={null}
          columns={columnsOf({ from: Date.parse(from), to: Date.parse(to) })}
        />
      </Stack>
    </>
  )
}

const Several = ({ kind, of }: { kind: 'person' | 'agent'; of: readonly (readonly [key: string, name: string])[] }) =>
  of.map(([key, name], at) => (
    <span key={key}>
      {at > 0 && ', '}
      <ThingLink kind={kind} of={key}>
        {name}
      </ThingLink>
    </span>
  ))

/** In milliseconds. */
interface Span {
  from: number
  to: number
}

/** Where a part is within the session; all of it, if the session took no time. */
function placeOf({ started_at, ended_at }: Entry, { from, to }: Span): { left: string; width: string } {
  const share = (moment: string) => (to > from ? (100 * (Date.parse(moment) - from)) / (to - from) : 0)
  return {
    left: `${Math.min(99, share(started_at))}%`,
    width: to > from ? `${share(ended_at) - share(started_at)}%` : '100%',
  }
}

const columnsOf = (span: Span): Column<Entry>[] => [
  {
    key: 'model',
    title: 'Model',
    minWidth: '160px',
    phone: 'title',
    value: ({ model }) => model,
    cell: ({ model, part }) => (
      <>
        <bdi>{model}</bdi>
        {part !== null && part > 1 && `, part ${part}`}
      </>
    ),
  },
  { key: 'source', title: 'Source', width: '130px', phone: 'bare', cell: ({ source }) => SOURCES[source] },
  {
    key: 'started',
    title: 'Started',
    width: '124px',
    phone: 'bare',
    value: ({ started_at }) => started_at,
    cell: ({ started_at }) => <Moment at={started_at} isShort />,
  },
  {
    key: 'timeline',
    title: 'Timeline',
    width: '180px',
    phone: 'bare',
    cell: (entry) => (
      <div className={classes.timeline} aria-hidden>
        <div style={placeOf(entry, span)} />
      </div>
    ),
  },
  {
    key: 'duration',
    title: 'Duration',
    width: '96px',
    isNumber: true,
    phone: 'hidden',
    cell: ({ started_at, ended_at }) => duration(started_at, ended_at),
  },
  {
    key: 'place',
    title: 'Assigned to',
    width: '124px',
    phone: 'bare',
    cell: (entry) => <bdi>{placeKey(entry) ?? 'unattributed'}</bdi>,
  },
  { key: 'status', title: 'Status', width: '100px', phone: 'bare', cell: ({ status }) => <Status of={status} /> },
  countColumn('tokens', 'Tokens', ({ tokens }) => tokens.total, { width: '90px', phone: 'hidden' }),
  fineMoneyColumn('cost', 'Cost', ({ cost }) => cost, { width: '120px', phone: 'value' }),
]
