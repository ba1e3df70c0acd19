/** Who, with what, when, for how long. */
import { Anchor, Badge } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { duration } from '../../format/moments.ts'
import type { Entry } from '../../parts/entries/entry.ts'
import { Moment } from '../../parts/figures.tsx'
import { useRole } from '../../server/me.ts'
import { Facts } from './facts.tsx'

export const To = ({ href, children }: { href: string; children: ReactNode }) => (
  <Anchor component={Link} href={href} size="sm">
    {children}
  </Anchor>
)

const listed = (filter: Record<string, string>, text: string) => (
  <To href={addressOf('/entries', filter)}>
    <bdi>{text}</bdi>
  </To>
)

const SOURCES: Record<Entry['source'], string> = {
  report: 'A report call',
  log: 'Logs that the agent pushed',
  span: 'Spans that the agent pushed',
  metric: 'Metrics that the agent pushed',
  sheet: 'A token sheet, by hand',
}

export const EntryFacts = ({ entry }: { entry: Entry }) => (
  <Facts
    facts={[
      ['Agent manager', listed({ agent_manager: entry.agent_manager.id }, entry.agent_manager.name)],
      ['Agent', listed({ agent_name: entry.agent_name }, entry.agent_name)],
      ['Harness', listed({ agent_harness: entry.agent_harness }, entry.agent_harness)],
      ['Model', listed({ model: entry.model }, entry.model)],
      ['Provider', entry.provider && <bdi>{entry.provider}</bdi>],
      ['Started', <Moment key="at" at={entry.started_at} />],
      ['Lasted', duration(entry.started_at, entry.ended_at)],
      ['Model calls', entry.requests === null ? null : count(entry.requests)],
      ['Session', <Session key="session" entry={entry} />],
      ['Source', <Source key="source" entry={entry} />],
      ['Labels', Object.keys(entry.labels).length > 0 && <Labels key="labels" labels={entry.labels} />],
      ['Bill', entry.bill && <To href={`/bills/${entry.bill.id}`}>{entry.bill.number}</To>],
      ['Token sheet', entry.sheet && <To href={`/sheets/${entry.sheet.id}`}>Open the sheet</To>],
      [
        'Possible duplicate',
        entry.possible_duplicate_of && <Duplicate key="duplicate" entry={entry} of={entry.possible_duplicate_of} />,
      ],
    ]}
  />
)

function Session({ entry: { session_id, part, continues } }: { entry: Entry }) {
  if (session_id === null) return <>Without an id</>
  return (
    <>
      {listed({ session_id }, session_id)}
      {part !== null && part > 1 && `, part ${part}`}
      {continues && (
        <>
          {' · '}
          <To href={addressOf('/entries', { open: continues })}>the part before</To>
        </>
      )}
    </>
  )
}

/** An entry of another person's session can be opened by those who see everybody's. */
function Duplicate({ entry: { session_id }, of }: { entry: Entry; of: string }) {
  const seesAll = useRole('billing', 'admin')
  const reason =
    session_id === null ? 'An earlier entry says exactly the same' : 'Another person’s session has the same id'
  return session_id === null || seesAll ? <To href={addressOf('/entries', { open: of })}>{reason}</To> : reason
}

const Source = ({ entry }: { entry: Entry }) => (
  <>
    {SOURCES[entry.source]}
    {entry.superseded && '. Another source supplies the session now, so the figures here are 0.'}
  </>
)

const Labels = ({ labels }: { labels: Entry['labels'] }) =>
  Object.entries(labels).map(([name, value]) => (
    <Badge
      key={name}
      component={Link}
      href={addressOf('/entries', { label: `${name}:${value}` })}
      variant="default"
      tt="none"
      fw={400}
      mr={4}
      maw="100%"
      style={{ cursor: 'pointer' }}
    >
      <bdi>{`${name}: ${value}`}</bdi>
    </Badge>
  ))
