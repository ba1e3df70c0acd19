import { Anchor, ScrollArea, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import { addressOf } from '../address.ts'
import { count } from '../format/counts.ts'
import { fieldTitle } from './condition.ts'
import { Ago, Money } from './figures.tsx'
import type { Tried } from './rule-test-results.tsx'

/** The number of entries shown. */
const SHOWN = 50

/** The projects that the rule would assign entries to or, if it matches none, why not. */
export const TakenEntries = ({ entries, isNone }: { entries: Tried[]; isNone: boolean }) => (
  <ScrollArea.Autosize mah={420} type="auto" viewportProps={{ tabIndex: 0 }}>
    <Table fz="xs" verticalSpacing={4} horizontalSpacing="xs" aria-label="Tested entries">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Entry</Table.Th>
          <Table.Th>{isNone ? 'Why it does not match' : 'Assigned to'}</Table.Th>
          <Table.Th ta="right">Cost (USD)</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.slice(0, SHOWN).map((tried) => (
          <Table.Tr key={tried.entry.id}>
            <Table.Td>
              <Anchor component={Link} href={addressOf('/entries', { open: tried.entry.id })} size="xs">
                {whatItIs(tried)}
              </Anchor>
              <Text size="xs" c="dimmed">
                {tried.entry.agent_manager} · <Ago at={tried.entry.started_at} />
              </Text>
            </Table.Td>
            <Table.Td>{isNone ? <WhyNot tried={tried} /> : <GoesTo tried={tried} />}</Table.Td>
            <Table.Td ta="right">
              <Money amount={tried.entry.cost} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    {entries.length > SHOWN && (
      <Text size="xs" c="dimmed" py={6}>
        and {count(entries.length - SHOWN)} more
      </Text>
    )}
  </ScrollArea.Autosize>
)

const whatItIs = ({ entry: { labels, summary, agent_name } }: Tried): string =>
  [labels.repository, labels.branch].filter(Boolean).join(' · ') || summary || agent_name

function GoesTo({ tried: { taken, entry, applies } }: { tried: Tried }) {
  const now = entry.ticket?.key ?? entry.project?.key
  return (
    <>
      {[taken!.project.key, taken!.ticket].filter(Boolean).join(' · ')}
      {taken!.note && (
        <Text size="xs" c="dimmed">
          {taken!.note}
        </Text>
      )}
      {!applies && (
        <Text size="xs" c="dimmed">
          {now ? `stays in ${now}` : 'does not change'}
        </Text>
      )}
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
