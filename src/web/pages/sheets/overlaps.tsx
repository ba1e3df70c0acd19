/** Entries of a sheet that may duplicate usage an agent also reported. */
import { Alert, Anchor, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { dayAndTime, timeOfDay } from '../../format/moments.ts'
import { answer } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { type Overlaps, sheetOf } from './sheet-body.ts'

/** More pairs than anyone reviews one by one. */
const SHOWN = 5

export const useOverlaps = (id: string) =>
  useQuery({
    queryKey: ['sheets', 'overlaps', id],
    queryFn: async ({ signal }) => (await answer(sheetOf(id, signal).overlaps.get())).data,
  })

export function OverlapsNote({ id }: { id: string }) {
  const { data } = useOverlaps(id)
  if (!data || data.length === 0) return null
  return (
    <Alert color="orange" variant="light" title={counted(data.length, 'possible duplicate')}>
      <OverlapList overlaps={data} />
    </Alert>
  )
}

export function OverlapList({ overlaps }: { overlaps: Overlaps }) {
  const { time_zone } = useSettings()
  const span = ({ started_at, ended_at }: Overlaps[number]['entry']) =>
    `${dayAndTime(started_at, time_zone)} – ${timeOfDay(ended_at, time_zone)}`
  return (
    <>
      <Text size="sm">Entries on this sheet overlap in time with reported entries of the same person and harness.</Text>
      <List size="sm" mt={4}>
        {overlaps.slice(0, SHOWN).map(({ entry, reported }) => (
          <List.Item key={`${entry.id} ${reported.id}`}>
            {entry.agent_harness}, {span(entry)}, overlaps a{' '}
            <Anchor component={Link} href={addressOf('/entries', { open: reported.id })} size="sm">
              reported entry
            </Anchor>
            , {span(reported)}
          </List.Item>
        ))}
      </List>
      {overlaps.length > SHOWN && <Text size="sm">and {overlaps.length - SHOWN} more</Text>}
    </>
  )
}
