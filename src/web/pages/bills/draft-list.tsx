/** New bills that somebody has begun and not sent. */
import { ActionIcon, Anchor, Button, Group, Paper, Text, Title } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { count } from '../../format/counts.ts'
import { dayInWords, monthInWords } from '../../format/moments.ts'
import { total } from '../../parts/figure-link.tsx'
import { Ago } from '../../parts/figures.tsx'
import { Caption, Dimmed } from '../../parts/texts.tsx'
import {
  addDraft,
  type BillDraft,
  billDraftsQuery,
  type DraftForm,
  forgetDrafts,
  useAddDraft,
  useRemoveDraft,
} from '../../server/bill-drafts.ts'
import { useMe } from '../../server/me.ts'
import { moveStoredDrafts } from './drafts.ts'

export function DraftList() {
  const person = useMe().person.id
  const { data: drafts = [] } = useQuery(billDraftsQuery)
  const [removed, setRemoved] = useState<BillDraft>()
  const remove = useRemoveDraft(setRemoved)
  const restore = useAddDraft(() => setRemoved(undefined))
  useEffect(() => {
    void moveStoredDrafts(person, addDraft).then((moved) => (moved > 0 ? forgetDrafts() : undefined))
  }, [person])
  if (drafts.length === 0 && !removed) return null
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="drafts">
      <Title order={2} size="h6" id="drafts">
        Drafts{' '}
        <Dimmed fw={400} {...total('drafts', drafts.length)}>
          {count(drafts.length)}
        </Dimmed>
      </Title>
      <Caption>Bills not sent yet. Visible to everyone who can send bills.</Caption>
      {drafts.map((draft) => (
        <Group key={draft.id} gap="2px 8px">
          <Anchor component={Link} href={addressOf('/bills/new', { draft: draft.id })} size="sm">
            <bdi>{whomFor(draft.form)}</bdi>, {periodOf(draft.form)}
          </Anchor>
          <Caption>
            <bdi>{draft.updated_by.name}</bdi>, <Ago at={draft.updated_at} />
          </Caption>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`Delete draft for ${whomFor(draft.form)}`}
            onClick={() => remove.mutate(draft)}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Group>
      ))}
      {removed && (
        <Group gap="xs" role="status">
          <Text size="sm">Draft deleted.</Text>
          <Button size="compact-xs" variant="subtle" onClick={() => restore.mutate(removed.form)}>
            Undo
          </Button>
        </Group>
      )}
    </Paper>
  )
}

function whomFor({ scope, client, project }: DraftForm): string {
  if (scope === 'everything') return 'Everything'
  return (scope === 'client' ? client : project)?.label ?? 'nobody yet'
}

function periodOf({ span, month, days }: DraftForm): string {
  if (span === 'month') return month ? monthInWords(month) : 'no month yet'
  const [from, to] = days
  return from && to ? `${dayInWords(from)} – ${dayInWords(to)}` : 'no days yet'
}
