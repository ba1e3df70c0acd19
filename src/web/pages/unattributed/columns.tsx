/** The columns and actions of the table of groups. */
import { Button, Group, Text } from '@mantine/core'
import { count } from '../../format/counts.ts'
import { dayOfMoment } from '../../format/moments.ts'
import { agoColumn, cellColumn } from '../../parts/columns.tsx'
import { fieldTitle } from '../../parts/condition.ts'
import type { Column } from '../../parts/data-table.tsx'
import { pageOfList } from '../../parts/entries/filters.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import { type Group as EntryGroup, furtherOf, placeOf } from './groups.ts'

interface Doing {
  /** Assigns the group where its suggestion says. */
  accept: (group: EntryGroup) => void
  /** The paths of the groups that are being assigned. */
  accepting: ReadonlySet<string> | undefined
  /** Of the organization. */
  timeZone: string
  place: (group: EntryGroup) => void
  /** Undefined if the person may not create rules. */
  makeRule: ((group: EntryGroup) => void) | undefined
  /** Undefined if the person may not propose rules. */
  propose: ((group: EntryGroup) => void) | undefined
  mayPropose: (group: EntryGroup) => boolean
}

/** How many shared fields are shown; the rule has the rest. */
const SHARED = 3

const NAMED_IN: Record<string, string> = {
  branch: 'Named in branches',
  summary: 'Named in summaries',
  repository: 'The project has this repository',
}

export const groupColumns = ({
  accept,
  accepting,
  place,
  makeRule,
  propose,
  mayPropose,
  timeZone,
}: Doing): Column<EntryGroup>[] => [
  cellColumn('name', 'Group', { value: ({ name }) => name, minWidth: '300px', phone: 'title' }, (group) => (
    <Name group={group} />
  )),
  cellColumn(
    'entries',
    'Entries',
    { value: ({ entries }) => entries, isNumber: true, width: '84px' },
    ({ entries, list }) => (
      <FigureLink figure="entries" value={entries} to={pageOfList(list, timeZone)}>
        {count(entries)}
      </FigureLink>
    ),
  ),
  cellColumn(
    'tokens',
    'Tokens',
    { value: ({ tokens }) => tokens.total, isNumber: true, width: '84px' },
    ({ tokens, list }) => (
      <FigureLink figure="tokens" value={tokens.total} to={pageOfList(list, timeZone)}>
        <Count value={tokens.total} />
      </FigureLink>
    ),
  ),
  cellColumn(
    'cost',
    'Cost',
    { value: ({ cost }) => cost, isNumber: true, width: '104px', phone: 'value' },
    ({ cost, list }) => (
      <FigureLink figure="cost" value={cost} to={pageOfList(list, timeZone)}>
        <Money amount={cost} />
      </FigureLink>
    ),
  ),
  agoColumn('last', 'Latest', ({ last_at }) => last_at, { width: '118px' }),
  cellColumn('actions', 'Action', { phone: 'bare', width: makeRule || propose ? '350px' : '270px' }, (group) => (
    <Group gap={6}>
      {group.suggestion && (
        <Button
          size="compact-sm"
          variant="light"
          maw={160}
          loading={accepting?.has(group.list) ?? false}
          disabled={accepting !== undefined && !accepting.has(group.list)}
          onClick={() => accept(group)}
          title={NAMED_IN[group.suggestion.from]}
          aria-label={`Assign to ${placeOf(group)}: ${group.name}`}
        >
          <bdi>Assign to {placeOf(group)}</bdi>
        </Button>
      )}
      <Button size="compact-sm" variant="default" onClick={() => place(group)} aria-label={`Assign ${group.name}`}>
        Assign…
      </Button>
      {makeRule && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => makeRule(group)}
          aria-label={`New rule for ${group.name}`}
        >
          New rule…
        </Button>
      )}
      {propose && mayPropose(group) && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => propose(group)}
          aria-label={`Propose rule for ${group.name}`}
        >
          Propose rule…
        </Button>
      )}
    </Group>
  )),
]

function Name({ group }: { group: EntryGroup }) {
  const further = furtherOf(group).slice(0, SHARED)
  const { time_zone } = useSettings()
  return (
    <>
      <Text span inherit fw={600}>
        <bdi>{group.name}</bdi>
      </Text>
      <Caption truncate component="span" display="block">
        since {dayOfMoment(group.first_at, time_zone)}
        {further.map(({ field, matches }) => (
          <span key={field}>
            {' · '}
            {fieldTitle(field)} <bdi>{matches}</bdi>
          </span>
        ))}
      </Caption>
    </>
  )
}
