/** New bills that were begun in this browser and not sent. */
import { ActionIcon, Anchor, Button, Group, Paper, Text, Title } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { dayInWords, monthInWords } from '../../format/moments.ts'
import { Ago } from '../../parts/figures.tsx'
import { useMe } from '../../server/me.ts'
import { type Draft, keepDraft, readDrafts, removeDraft } from './drafts.ts'
import type { BillValues } from './new-bill-values.ts'

export function DraftList() {
  const person = useMe().person.id
  const [drafts, setDrafts] = useState(() => readDrafts(person))
  const [removed, setRemoved] = useState<Draft>()
  if (drafts.length === 0 && !removed) return null
  const remove = (draft: Draft) => {
    removeDraft(person, draft.id)
    setRemoved(draft)
    setDrafts(readDrafts(person))
  }
  const restore = (draft: Draft) => {
    keepDraft(person, draft)
    setRemoved(undefined)
    setDrafts(readDrafts(person))
  }
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="drafts">
      <Title order={2} size="h6" id="drafts">
        Drafts
      </Title>
      <Text size="xs" c="dimmed">
        Kept in this browser, for you only.
      </Text>
      {drafts.map((draft) => (
        <Group key={draft.id} gap="xs" wrap="nowrap">
          <Anchor component={Link} href={addressOf('/bills/new', { draft: draft.id })} size="sm">
            <bdi>{whomFor(draft.values)}</bdi>, {periodOf(draft.values)}
          </Anchor>
          <Text size="xs" c="dimmed">
            <Ago at={draft.at} />
          </Text>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`Delete draft for ${whomFor(draft.values)}`}
            onClick={() => remove(draft)}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      ))}
      {removed && (
        <Group gap="xs" role="status">
          <Text size="sm">Draft deleted.</Text>
          <Button size="compact-xs" variant="subtle" onClick={() => restore(removed)}>
            Undo
          </Button>
        </Group>
      )}
    </Paper>
  )
}

function whomFor({ scope, client, project }: BillValues): string {
  if (scope === 'everything') return 'Everything'
  return (scope === 'client' ? client : project)?.label ?? 'nobody yet'
}

function periodOf({ span, month, days }: BillValues): string {
  if (span === 'month') return month ? monthInWords(month) : 'no month yet'
  const [from, to] = days
  return from && to ? `${dayInWords(from)} – ${dayInWords(to)}` : 'no days yet'
}
