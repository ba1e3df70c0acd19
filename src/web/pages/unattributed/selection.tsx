/** What can be done with the selected groups. */
import { Button, Group, Paper, Text } from '@mantine/core'
import { count, counted } from '../../format/counts.ts'
import { type Group as EntryGroup, placeOf } from './groups.ts'

interface SelectionProps {
  groups: readonly EntryGroup[]
  acceptAll: (groups: readonly EntryGroup[]) => void
  isAccepting: boolean
  clear: () => void
}

export function Selection({ groups, acceptAll, isAccepting, clear }: SelectionProps) {
  if (groups.length === 0) return null
  const suggested = groups.filter((group) => placeOf(group) !== undefined)
  const entries = suggested.reduce((sum, group) => sum + group.entries, 0)
  return (
    <Paper withBorder p="xs" pos="sticky" top={0} style={{ zIndex: 2 }}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" role="status">
          {count(groups.length)} selected
          {suggested.length < groups.length && `, ${count(suggested.length)} with a suggestion`}
        </Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={clear}>
            Clear selection
          </Button>
          <Button
            size="compact-sm"
            disabled={suggested.length === 0}
            loading={isAccepting}
            onClick={() => acceptAll(suggested)}
            aria-keyshortcuts="a"
          >
            Assign {counted(entries, 'entry', 'entries')} where suggested
          </Button>
        </Group>
      </Group>
    </Paper>
  )
}
