import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { addressOf } from '../address.ts'
import { cellColumn, moneyColumn } from './columns.tsx'
import { fieldTitle } from './condition.ts'
import { type Column, DataTable } from './data-table.tsx'
import { Ago } from './figures.tsx'
import type { Tried } from './rule-test-results.tsx'
import { Caption } from './texts.tsx'

/** The projects that the rule would assign entries to or, if it matches none, why not. */
export const TakenEntries = ({ entries, isNone }: { entries: Tried[]; isNone: boolean }) => (
  <DataTable
    label="Tested entries"
    columns={columnsOf(isNone)}
    list={entries}
    rowKey={({ entry }) => entry.id}
    fold={20}
    empty={null}
  />
)

const columnsOf = (isNone: boolean): Column<Tried>[] => [
  cellColumn('entry', 'Entry', { value: whatItIs, phone: 'title' }, (tried) => (
    <>
      <Anchor component={Link} href={addressOf('/entries', { open: tried.entry.id })} size="sm">
        <bdi>{whatItIs(tried)}</bdi>
      </Anchor>
      <Caption truncate>
        {tried.entry.agent_manager} · <Ago at={tried.entry.started_at} />
      </Caption>
    </>
  )),
  cellColumn('result', isNone ? 'Why it does not match' : 'Assigned to', { phone: 'bare' }, (tried) =>
    isNone ? <WhyNot tried={tried} /> : <GoesTo tried={tried} />,
  ),
  moneyColumn('cost', 'Cost (USD)', ({ entry }) => entry.cost, { width: '100px', phone: 'value' }),
]

const whatItIs = ({ entry: { labels, summary, agent_name } }: Tried): string =>
  [labels.repository, labels.branch].filter(Boolean).join(' · ') || summary || agent_name

function GoesTo({ tried: { taken, entry, applies } }: { tried: Tried }) {
  const now = entry.ticket?.key ?? entry.project?.key
  return (
    <>
      {[taken!.project.key, taken!.ticket].filter(Boolean).join(' · ')}
      {taken!.note && <Caption>{taken!.note}</Caption>}
      {!applies && <Caption>{now ? `stays in ${now}` : 'does not change'}</Caption>}
    </>
  )
}

function WhyNot({ tried: { taken, steps } }: { tried: Tried }) {
  if (taken) return <>“{taken.rule.name}” matches first</>
  const failed = steps.find(({ rule }) => rule.id === null)?.failed ?? []
  return (
    <>
      {failed
        .map(({ field, value }) => `${fieldTitle(field)} is ${value === null ? 'not set' : `“${value}”`}`)
        .join('; ')}
    </>
  )
}
