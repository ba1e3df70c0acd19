/** Below a list whose search paused: how far it got, and a button to continue. */
import { Button, Group } from '@mantine/core'
import { dayOfMoment } from '../format/moments.ts'
import type { List } from '../server/list.ts'
import { useSettings } from '../server/me.ts'
import { Note } from './texts.tsx'

interface PausedSearchProps {
  list: Pick<List<unknown>, 'searchedTo' | 'fetchMore'>
  /** The number of rows found so far. */
  count: number
  /** Whether the oldest rows come first. */
  isForward: boolean
}

export function PausedSearch({ list, count, isForward }: PausedSearchProps) {
  const { time_zone } = useSettings()
  const reach = `${isForward ? 'up' : 'back'} to ${dayOfMoment(list.searchedTo!, time_zone)}`
  return (
    <Group justify="center" gap={6} py="xs" mih={40}>
      <Note role="status">{count === 0 ? `No matches yet, searched ${reach}` : `Searched ${reach}`}</Note>
      <Button variant="subtle" size="compact-sm" onClick={list.fetchMore}>
        Search further
      </Button>
    </Group>
  )
}
