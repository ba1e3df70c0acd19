/** One session, by the id that its harness gave it: its parts, when each ran, and what it used. */

import { Stack } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { SOURCE_TITLES } from '../../../shared/dimensions.ts'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { dayInWords, dayOf, duration, secondsInWords } from '../../format/moments.ts'
import { cellColumn, countColumn, fineMoneyColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Details } from '../../parts/details.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { activeTimeOf, branchOf, dayOfSlice, type Entry, placeKey } from '../../parts/entries/entry.ts'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Dimmed, Note, SectionTitle } from '../../parts/texts.tsx'
import { ThingLink } from '../../parts/thing-link.tsx'
import { type List, listOf } from '../../server/list.ts'
import { useSettings } from '../../server/me.ts'
import { activeTimeQuery, sessionEndQuery, sessionQuery } from './first-requests.ts'
import { usageOf } from './kinds.ts'
import { ThingUsage } from './thing-usage.tsx'
import classes from './things.module.css'

export function SessionPage({ name }: { name: string }) {
  const list = listOf(useInfiniteQuery(sessionQuery(name)))
  const isLong = list.first?.has_more === true
  const end = useQuery({ ...sessionEndQuery(name), enabled: isLong })
  const { rows, error, refetch } = list
  const isKnown = rows !== undefined && (!isLong || end.data !== undefined)
  return (
    <Page
      // Its own id says nothing to a person.
      title={rows?.find(({ summary }) => summary !== null)?.summary ?? name}
      lead={
        <>
          Session <bdi>{name}</bdi>
        </>
      }
      above={{ href: '/entries', title: 'Entries' }}
    >
      {error && !rows && <Failure error={error} retry={refetch} />}
      {!isKnown && !error && <Loading />}
      {rows?.length === 0 && <Empty title="No such session">No entry that you can see has this session ID.</Empty>}
      {isKnown && rows.length > 0 && <Session name={name} parts={rows} list={list} last={end.data} />}
    </Page>
  )
}

/** Moments in ISO 8601 sort as texts. */
const earliest = (moments: readonly string[]): string => moments.toSorted()[0]!
const latest = (moments: readonly string[]): string => moments.toSorted().at(-1)!

interface SessionProps {
  name: string
  /** Those loaded so far. */
  parts: Entry[]
  list: List<Entry>
  /** Of a session that is not loaded as a whole. */
  last: Entry | undefined
}

function Session({ name, parts, list, last }: SessionProps) {
  const { time_zone } = useSettings()
  const [, navigate] = useLocation()
  const known = last ? [...parts, last] : parts
  const from = earliest(known.map(({ started_at }) => started_at))
  const to = latest(known.map(({ ended_at }) => ended_at))
  const isSliced = parts.some(({ slice }) => slice)
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
          [
            'Active time',
            parts.some(({ active_seconds }) => active_seconds !== null) && <ActiveTime key="active" name={name} />,
          ],
        ]}
      />
      {people.size > 1 && (
        <Note>{people.size} people have reported a session with this ID. Each of them has a session of their own.</Note>
      )}
      <ThingUsage
        of={usageOf('session', name)}
        span={{
          from: dayOf(new Date(from), time_zone),
          to: dayOf(new Date(latest(known.map(({ started_at }) => started_at))), time_zone),
        }}
        hasEntries={false}
      />
      <Stack gap="xs">
        <SectionTitle>Parts</SectionTitle>
        <Note>
          {isSliced
            ? 'One for each day, branch or place, and model, and more if the work there continued after an entry was approved or billed.'
            : 'One for each model, and more if the session continued after an entry was approved or billed.'}
        </Note>
        <DataTable
          label="Parts of the session"
          name={isSliced ? 'session-slices' : 'session-parts'}
          // Only what is loaded as a whole can be sorted.
          list={last ? list : parts}
          rowKey={({ id }) => id}
          open={({ id }) => navigate(addressOf('/entries', { session_id: name, open: id }))}
          isMuted={({ superseded }) => superseded}
          empty={null}
          columns={columnsOf({ from: Date.parse(from), to: Date.parse(to) }, isSliced, time_zone)}
        />
      </Stack>
    </>
  )
}

/** Of all entries of the session; those whose active time is unknown are named. */
function ActiveTime({ name }: { name: string }) {
  const { time_zone } = useSettings()
  const { data } = useQuery(activeTimeQuery(name, time_zone))
  if (data?.totals.active_seconds == null) return null
  const { active_seconds, untimed_entries = 0, entries } = data.totals
  return (
    <>
      {secondsInWords(active_seconds)}
      {untimed_entries > 0 && ` (${count(entries - untimed_entries)} of ${counted(entries, 'entry', 'entries')})`}
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

const columnsOf = (span: Span, isSliced: boolean, timeZone: string): Column<Entry>[] => [
  ...(isSliced ? sliceColumns(timeZone) : []),
  cellColumn(
    'model',
    'Model',
    { minWidth: '160px', phone: isSliced ? 'bare' : 'title', value: ({ model }) => model },
    ({ model, part }) => (
      <>
        <bdi>{model}</bdi>
        {/* Parts are numbered over all slices, where the number says nothing. */}
        {!isSliced && part !== null && part > 1 && `, part ${part}`}
      </>
    ),
  ),
  cellColumn('source', 'Source', { width: '168px', ...extraIf(isSliced) }, ({ source }) => SOURCE_TITLES[source]),
  cellColumn(
    'started',
    'Started',
    { width: '124px', ...extraIf(isSliced), value: ({ started_at }) => started_at },
    ({ started_at }) => <Moment at={started_at} isShort />,
  ),
  cellColumn('timeline', 'Timeline', { width: '180px', phone: 'bare' }, (entry) => (
    <div className={classes.timeline} aria-hidden>
      <div style={placeOf(entry, span)} />
    </div>
  )),
  cellColumn(
    'duration',
    'Duration',
    { width: '96px', isNumber: true, phone: 'hidden', isExtra: isSliced },
    ({ started_at, ended_at }) => duration(started_at, ended_at),
  ),
  cellColumn(
    'active',
    'Active',
    {
      width: '96px',
      isNumber: true,
      phone: 'hidden',
      isExtra: !isSliced,
      value: ({ active_seconds }) => active_seconds,
    },
    (entry) => activeTimeOf(entry) ?? <EmptyCell />,
  ),
  cellColumn('place', 'Assigned to', { width: '124px', phone: 'bare' }, (entry) => (
    <bdi>{placeKey(entry) ?? 'unattributed'}</bdi>
  )),
  cellColumn('status', 'Status', { width: '100px', phone: 'bare' }, ({ status }) => <Status of={status} />),
  countColumn('tokens', 'Tokens', ({ tokens }) => tokens.total, { width: '90px', phone: 'hidden' }),
  fineMoneyColumn('cost', 'Cost', ({ cost }) => cost, { width: '120px', phone: 'value' }),
]

/** What the day and the branch of a slice say already. */
const extraIf = (isSliced: boolean) => ({ isExtra: isSliced, phone: isSliced ? 'hidden' : 'bare' }) as const

const sliceColumns = (timeZone: string): Column<Entry>[] => [
  cellColumn(
    'day',
    'Day',
    { width: '150px', phone: 'title', value: (entry) => dayOfSlice(entry, timeZone) },
    (entry) => (
      <>
        {dayInWords(dayOfSlice(entry, timeZone))}
        {entry.slice?.estimated && <Dimmed> estimated</Dimmed>}
      </>
    ),
  ),
  textColumn('branch', 'Branch', branchOf, { minWidth: '140px', phone: 'bare' }),
]
