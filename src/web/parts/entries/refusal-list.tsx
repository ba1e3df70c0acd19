/** Entries that an action skips, grouped by reason. */
import { Anchor, Collapse, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { Note } from '../texts.tsx'
import { type ActionResults, type Entry, nameOf } from './entry.ts'
import { refusalsByReason } from './refusals.ts'

interface RefusedProps {
  results: ActionResults
  rows: readonly Entry[]
  /** `skipped` in the preview, `unchanged` in the results. */
  lead: string
  isOpen?: boolean
}

/** The number of entries listed per reason. */
const LISTED = 50

export function Refused({ results, rows, lead, isOpen = false }: RefusedProps) {
  const reasons = refusalsByReason(results)
  if (reasons.size === 0) return null
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {counted(results.refused, 'entry is', 'entries are')} {lead}
      </Text>
      {[...reasons].map(([reason, entries]) => (
        <Reason key={reason} reason={reason} ids={entries.map(({ id }) => id)} rows={rows} isOpen={isOpen} />
      ))}
    </Stack>
  )
}

interface ReasonProps {
  reason: string
  ids: string[]
  rows: readonly Entry[]
  isOpen: boolean
}

function Reason({ reason, ids, rows, isOpen }: ReasonProps) {
  const [isShown, setShown] = useState(isOpen)
  return (
    <div>
      <Note>
        {reason}{' '}
        <Anchor component="button" type="button" size="sm" onClick={() => setShown(!isShown)} aria-expanded={isShown}>
          {isShown ? 'Hide' : 'Show'} {counted(ids.length, 'entry', 'entries')}
        </Anchor>
      </Note>
      <Collapse expanded={isShown}>
        <List size="sm" mt={4} mah={200} style={{ overflowY: 'auto' }}>
          {ids.slice(0, LISTED).map((id) => (
            <List.Item key={id}>
              <Anchor component={Link} href={addressOf('/entries', { open: id })} size="sm">
                <bdi>{labelOf(id, rows)}</bdi>
              </Anchor>
            </List.Item>
          ))}
          {ids.length > LISTED && <List.Item>and {counted(ids.length - LISTED, 'entry', 'entries')} more</List.Item>}
        </List>
      </Collapse>
    </div>
  )
}

function labelOf(id: string, rows: readonly Entry[]): string {
  const row = rows.find((row) => row.id === id)
  return row ? nameOf(row) : id
}
