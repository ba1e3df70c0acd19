/** E-mail addresses without a person, and assigning their sessions to one after a preview. */
import { Alert, Anchor, Button, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { counted } from '../../format/counts.ts'
import { agoColumn, cellColumn, exactCountColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { type Choice, PersonPicker } from '../../parts/pickers.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, api, type Body } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import { Part } from './part.tsx'
import type { TelemetryStatus } from './status.ts'

type Email = NonNullable<TelemetryStatus['emails']>[number]
type Assigned = Body<Awaited<ReturnType<typeof api.telemetry.assign.post>>>

export function Emails({ emails, isByEmail }: { emails: readonly Email[]; isByEmail: boolean }) {
  const [email, setEmail] = useState<Email | null>(null)
  if (!isByEmail && emails.length === 0) {
    return (
      <Part title="E-mail addresses">
        <Text size="sm">
          Telemetry pushed with an organization token belongs to the creator of the token. To assign it to the person
          whose e-mail address it contains instead, enable this in{' '}
          <Anchor component={Link} href="/settings" size="sm">
            Settings
          </Anchor>
          .
        </Text>
      </Part>
    )
  }
  return (
    <Part
      title="Unassigned addresses"
      lead="Agents sent these e-mail addresses, but no person has them. Their sessions belong to the creator of the token until you assign them."
    >
      <DataTable
        label="Unassigned addresses"
        name="telemetry-emails"
        columns={columnsOf(setEmail)}
        list={emails}
        rowKey={({ email }) => email}
        empty={<Text size="sm">None. Every address received belongs to a person.</Text>}
      />
      <FormModal opened={email !== null} onClose={() => setEmail(null)} title={`Assign ${email?.email ?? ''}`}>
        {email && <Assignment email={email.email} leave={() => setEmail(null)} />}
      </FormModal>
    </Part>
  )
}

const columnsOf = (assign: (email: Email) => void): Column<Email>[] => [
  textColumn('email', 'Address', ({ email }) => email, { phone: 'title' }),
  exactCountColumn('sessions', 'Sessions', ({ sessions }) => sessions, { width: '100px' }),
  agoColumn('seen', 'Last seen', ({ last_seen_at }) => last_seen_at, { width: '130px' }),
  cellColumn('assign', 'Action', { width: '110px', isNumber: true, phone: 'value' }, (email) => (
    <Button size="compact-xs" variant="default" onClick={() => assign(email)} aria-label={`Assign ${email.email}`}>
      Assign…
    </Button>
  )),
]

interface AssignmentRequest {
  user: string
  isTrial: boolean
}

function Assignment({ email, leave }: { email: string; leave: () => void }) {
  const [person, setPerson] = useState<Choice | null>(null)
  const [tried, setTried] = useState<Assigned | null>(null)
  const assign = useSend({
    send: ({ user, isTrial }: AssignmentRequest): Promise<Assigned> =>
      answer(api.telemetry.assign.post({ email, user, dry_run: isTrial })),
    changes: ['telemetry', 'entries', 'reports', 'audit'],
    quiet: true,
  })
  const run = (isTrial: boolean) =>
    assign.mutate(
      { user: person!.value, isTrial },
      { onSuccess: (result) => (isTrial || !result.complete ? setTried(result) : leave()) },
    )
  return (
    <Stack>
      <PersonPicker
        label="Person"
        value={person}
        change={(choice) => {
          setPerson(choice)
          setTried(null)
        }}
        placeholder="Search by name"
      />
      <Note>
        To have future sessions assigned automatically, add the address to the person’s additional e-mail addresses in
        People.
      </Note>
      {assign.error && (
        <Alert color="red" variant="light" role="alert" title={assign.error.title}>
          {assign.error.message}
        </Alert>
      )}
      {tried && <Outcome assigned={tried} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={leave}>
          Cancel
        </Button>
        {tried ? (
          <Button loading={assign.isPending} onClick={() => run(false)}>
            {tried.dry_run ? 'Assign sessions' : 'Continue'}
          </Button>
        ) : (
          <Button disabled={person === null} loading={assign.isPending} onClick={() => run(true)}>
            Preview changes
          </Button>
        )}
      </Group>
    </Stack>
  )
}

const SKIPPED: Record<Assigned['skipped'][number]['reason'], string> = {
  theirs: 'already belongs to this person',
  reported: 'was reported with a service token, which identifies its owner',
  has_another: 'has the same ID as another of their sessions',
}

function Outcome({
  assigned: { dry_run, sessions, entries, locked, skipped, user, complete },
}: {
  assigned: Assigned
}) {
  return (
    <Alert variant="light" color={dry_run ? 'blue' : 'teal'} role="status">
      <Text size="sm">
        {counted(sessions, 'session')} with {counted(entries, 'entry', 'entries')} {dry_run ? 'would be' : 'were'}{' '}
        assigned to <bdi>{user.name}</bdi>.{!complete && ' There are more.'}
      </Text>
      {locked.length > 0 && (
        <Text size="sm">
          {counted(locked.length, 'entry', 'entries')} not changed, because approved and billed entries are locked.
        </Text>
      )}
      {skipped.length > 0 && (
        <List size="sm">
          {skipped.map(({ agent_harness, session_id, reason }) => (
            <List.Item key={`${agent_harness} ${session_id}`}>
              <bdi>{session_id}</bdi> {SKIPPED[reason]}.
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  )
}
