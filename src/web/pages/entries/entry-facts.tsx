/** The facts of an entry: who, with which agent and model, when, for how long. */

import { Anchor, Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { SOURCE_TITLES } from '../../../shared/dimensions.ts'
import { serviceText, toolsText } from '../../../shared/price-texts.ts'
import { addressOf } from '../../address.ts'
import { count, percent } from '../../format/counts.ts'
import { duration } from '../../format/moments.ts'
import { money } from '../../format/money.ts'
import { activeTimeOf, askEntry, type Entry, placeKey } from '../../parts/entries/entry.ts'
import { Moment } from '../../parts/figures.tsx'
import { ThingLink } from '../../parts/thing-link.tsx'
import { apiQuery } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { Facts } from './facts.tsx'

const To = ({ href, children }: { href: string; children: ReactNode }) => (
  <Anchor component={Link} href={href} size="sm">
    {children}
  </Anchor>
)

const listed = (filter: Record<string, string>, text: string) => (
  <To href={addressOf('/entries', filter)}>
    <bdi>{text}</bdi>
  </To>
)

export const EntryFacts = ({ entry }: { entry: Entry }) => (
  <Facts
    facts={[
      [
        'Agent manager',
        <ThingLink key="manager" kind="person" of={entry.agent_manager.id}>
          {entry.agent_manager.name}
        </ThingLink>,
      ],
      [
        'Agent',
        <ThingLink key="agent" kind="agent" of={entry.agent_name}>
          {entry.agent_name}
        </ThingLink>,
      ],
      ['Harness', listed({ agent_harness: entry.agent_harness }, entry.agent_harness)],
      [
        'Model',
        <ThingLink key="model" kind="model" of={entry.model}>
          {entry.model}
        </ThingLink>,
      ],
      ['Provider', entry.provider && <bdi>{entry.provider}</bdi>],
      ['Service', serviceText(entry)],
      ['Started', <Moment key="at" at={entry.started_at} />],
      ['Duration', duration(entry.started_at, entry.ended_at)],
      ['Active time', activeTimeOf(entry)],
      ['Model calls', entry.requests === null ? null : count(entry.requests)],
      ['Tools', toolsText(entry.tools)],
      ['Session', <Session key="session" entry={entry} />],
      ['Source', <Source key="source" entry={entry} />],
      ['Labels', Object.keys(entry.labels).length > 0 && <Labels key="labels" labels={entry.labels} />],
      ['Corrected', entry.corrected.length > 0 && entry.corrected.join(', ')],
      ['Part of', entry.division && <Division key="division" entry={entry} />],
      ['Bill', entry.bill && <To href={`/bills/${entry.bill.id}`}>{entry.bill.number}</To>],
      ['Token sheet', entry.sheet && <To href={`/sheets/${entry.sheet.id}`}>View token sheet</To>],
      [
        'Possible duplicate',
        entry.possible_duplicate_of && <Duplicate key="duplicate" entry={entry} of={entry.possible_duplicate_of} />,
      ],
    ]}
  />
)

function Session({ entry: { session_id, part, slice, continues } }: { entry: Entry }) {
  if (session_id === null) return <>No session ID</>
  return (
    <>
      <ThingLink kind="session" of={session_id}>
        {session_id}
      </ThingLink>
      {/* Parts are numbered over all slices, where the number says nothing. */}
      {!slice && part !== null && part > 1 && `, part ${part}`}
      {continues && (
        <>
          {' · '}
          <To href={addressOf('/entries', { open: continues })}>previous part</To>
        </>
      )}
    </>
  )
}

/** The other parts of a divided entry, as far as the viewer sees them. */
function Division({ entry: { id, division } }: { entry: Entry }) {
  const { data } = useQuery(apiQuery(['entries', 'division', id], (api) => api['token-entries']({ id }).division.get()))
  const others = data?.parts.filter((part) => part.id !== id) ?? []
  return (
    <>
      {`${percent(division!.share)} of a divided entry`}
      {data?.cost != null && ` of ${money(data.cost)}`}
      {others.map((part) => (
        <span key={part.id}>
          {' · '}
          <To href={addressOf('/entries', { open: part.id })}>
            <bdi>{placeKey(part) ?? 'unattributed'}</bdi> {percent(part.division!.share)}
          </To>
        </span>
      ))}
      {data && data.hidden_parts > 0 && ` · ${data.hidden_parts} in projects that you cannot see`}
    </>
  )
}

/** Only people who can see everyone's entries can open an entry of another person. */
function Duplicate({ entry: { session_id, status }, of }: { entry: Entry; of: string }) {
  const seesAll = useRole('billing', 'admin')
  const reason = session_id === null ? 'Identical to an earlier entry' : 'Another person’s session has the same ID'
  const consequence = CONSEQUENCES[status]
  return (
    <>
      {session_id === null || seesAll ? <To href={addressOf('/entries', { open: of })}>{reason}</To> : reason}
      {seesAll && session_id !== null && <OtherOwner of={of} />}
      {consequence && `. ${consequence}`}
    </>
  )
}

const CONSEQUENCES: Partial<Record<Entry['status'], string>> = {
  held: 'This entry is not counted until someone releases or discards its session',
  discarded: 'This entry is never counted',
}

/** Whose the other session is. */
function OtherOwner({ of }: { of: string }) {
  const { data } = useQuery({ queryKey: ['entries', 'one', of], queryFn: ({ signal }) => askEntry(of, signal) })
  return (
    data && (
      <>
        {' ('}
        <bdi>{data.agent_manager.name}</bdi>)
      </>
    )
  )
}

const Source = ({ entry }: { entry: Entry }) => (
  <>
    {SOURCE_TITLES[entry.source]}
    {entry.superseded && '. Its session has reported this usage elsewhere since, so the counts of this entry are 0.'}
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
