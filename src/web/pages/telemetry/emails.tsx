/** Addresses that are nobody's, and giving their sessions to a person: tried first, then done. */
import { Alert, Anchor, Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { count, counted } from '../../format/counts.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Ago } from '../../parts/figures.tsx'
import { type Choice, PersonPicker } from '../../parts/pickers.tsx'
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
          What is pushed with an organization token belongs to whoever made the token. To give it to the person whose
          e-mail address an agent names, switch that on in{' '}
          <Anchor component={Link} href="/settings" size="sm" underline="always">
            Settings
          </Anchor>
          .
        </Text>
      </Part>
    )
  }
  return (
    <Part
      title="E-mail addresses of nobody"
      lead="Agents named them, and no person has them. Their sessions belong to the creator of the token until they are assigned."
    >
      <DataTable
        label="E-mail addresses"
        columns={columnsOf(setEmail)}
        list={emails}
        rowKey={({ email }) => email}
        empty={<Text size="sm">None: every address that came is somebody’s.</Text>}
      />
      <Modal opened={email !== null} onClose={() => setEmail(null)} title={`Whose is ${email?.email ?? ''}?`}>
        {email && <Assignment email={email.email} leave={() => setEmail(null)} />}
      </Modal>
    </Part>
  )
}

const columnsOf = (assign: (email: Email) => void): Column<Email>[] => [
  { key: 'email', title: 'Address', phone: 'title', cell: ({ email }) => <bdi>{email}</bdi> },
  { key: 'sessions', title: 'Sessions', width: '100px', isNumber: true, cell: ({ sessions }) => count(sessions) },
  { key: 'seen', title: 'Last seen', width: '130px', cell: ({ last_seen_at }) => <Ago at={last_seen_at} /> },
  {
    key: 'assign',
    title: 'Action',
    width: '110px',
    isNumber: true,
    phone: 'value',
    cell: (email) => (
      <Button size="compact-xs" variant="default" onClick={() => assign(email)} aria-label={`Assign ${email.email}`}>
        Assign …
      </Button>
    ),
  },
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
        placeholder="Type a part of the name"
      />
      <Text size="sm" c="dimmed">
        What comes later finds them by their further e-mail addresses, in People.
      </Text>
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
            {tried.dry_run ? 'Assign them' : 'Go on'}
          </Button>
        ) : (
          <Button disabled={person === null} loading={assign.isPending} onClick={() => run(true)}>
            Show what would move
          </Button>
        )}
      </Group>
    </Stack>
  )
}

const SKIPPED: Record<Assigned['skipped'][number]['reason'], string> = {
  theirs: 'is theirs already',
  reported: 'was reported with a service token, which says for certain whose it is',
  has_another: 'has an id that another session of theirs has',
}

function Outcome({
  assigned: { dry_run, sessions, entries, locked, skipped, user, complete },
}: {
  assigned: Assigned
}) {
  return (
    <Alert variant="light" color={dry_run ? 'blue' : 'teal'} role="status">
      <Text size="sm">
        {counted(sessions, 'session')} with {counted(entries, 'entry', 'entries')} {dry_run ? 'would become' : 'became'}{' '}
        <bdi>{user.name}</bdi>’s.{!complete && ' There are more.'}
      </Text>
      {locked.length > 0 && (
        <Text size="sm">
          {counted(locked.length, 'entry', 'entries')} {locked.length === 1 ? 'stays' : 'stay'} as it is, being approved
          or billed.
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
