/** The columns and actions of the table of groups. */
import { Button, Group, Text } from '@mantine/core'
import { count } from '../../format/counts.ts'
import { dayOfMoment } from '../../format/moments.ts'
import { fieldTitle } from '../../parts/condition.ts'
import type { Column } from '../../parts/data-table.tsx'
import { Ago, Count, Money } from '../../parts/figures.tsx'
import { useSettings } from '../../server/me.ts'
import { type Group as EntryGroup, furtherOf } from './groups.ts'

interface Doing {
  place: (group: EntryGroup) => void
  /** Undefined if the person may not create rules. */
  makeRule: ((group: EntryGroup) => void) | undefined
}

/** How many shared fields are shown; the rule has the rest. */
const SHARED = 3

export const groupColumns = ({ place, makeRule }: Doing): Column<EntryGroup>[] => [
  { key: 'name', title: 'In common', minWidth: '240px', phone: 'title', cell: (group) => <Name group={group} /> },
  { key: 'entries', title: 'Entries', isNumber: true, width: '84px', cell: ({ entries }) => count(entries) },
  {
    key: 'tokens',
    title: 'Tokens',
    isNumber: true,
    width: '84px',
    cell: ({ tokens }) => <Count value={tokens.total} />,
  },
  {
    key: 'cost',
    title: 'Cost',
    isNumber: true,
    width: '128px',
    phone: 'value',
    cell: ({ cost }) => <Money amount={cost} isFine />,
  },
  { key: 'last', title: 'Latest', width: '138px', cell: ({ last_at }) => <Ago at={last_at} /> },
  {
    key: 'actions',
    title: 'Action',
    phone: 'bare',
    width: makeRule ? '236px' : '104px',
    cell: (group) => (
      <Group gap={6} wrap="nowrap">
        <Button size="compact-sm" variant="default" onClick={() => place(group)} aria-label={`Assign ${group.name}`}>
          Assign…
        </Button>
        {makeRule && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => makeRule(group)}
            aria-label={`Create rule for ${group.name}`}
          >
            Create rule…
          </Button>
        )}
      </Group>
    ),
  },
]

function Name({ group }: { group: EntryGroup }) {
  const further = furtherOf(group).slice(0, SHARED)
  const { time_zone } = useSettings()
  return (
    <>
      <Text span inherit fw={600}>
        <bdi>{group.name}</bdi>
      </Text>
      <Text size="xs" c="dimmed" truncate component="span" display="block">
        since {dayOfMoment(group.first_at, time_zone)}
        {further.map(({ field, matches }) => (
          <span key={field}>
            {' · '}
            {fieldTitle(field)} <bdi>{matches}</bdi>
          </span>
        ))}
      </Text>
    </>
  )
}
