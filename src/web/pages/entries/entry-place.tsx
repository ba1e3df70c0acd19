/** Where the entry was placed, by what, and placing it by hand. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { addressOf } from '../../address.ts'
import { CHANGED_BY_ENTRIES, type EntryDetail } from '../../parts/entries/entry.ts'
import { isChosen, NO_PLACE, type Place, PlaceFields, placeBody, placeInWords } from '../../parts/place-fields.tsx'
import { answer, api } from '../../server/api.ts'
import type { Problem } from '../../server/problem.ts'
import { sentence } from '../../server/problem.ts'
import { useSend } from '../../server/send.ts'
import { To } from './entry-facts.tsx'
import { Facts, Part } from './facts.tsx'
import { isLocked, useRights } from './rights.ts'

export function EntryPlace({ entry }: { entry: EntryDetail }) {
  const [isPlacing, setPlacing] = useState(false)
  const rights = useRights()(entry)
  return (
    <Part
      title="Placement"
      aside={
        rights.place &&
        !isPlacing && (
          <Button size="compact-sm" variant="default" onClick={() => setPlacing(true)}>
            {entry.project || entry.ticket ? 'Place elsewhere' : 'Place'}
          </Button>
        )
      }
    >
      <PlaceFacts entry={entry} />
      {isPlacing && <PlaceForm entry={entry} close={() => setPlacing(false)} />}
      {isLocked(entry) && (
        <Text size="sm" c="dimmed">
          {LOCKED[entry.status]}
        </Text>
      )}
    </Part>
  )
}

const LOCKED: Partial<Record<EntryDetail['status'], string>> = {
  billed: 'It is on a bill, so it stays where it is. Voiding the bill releases it.',
  approved: 'It is approved, so it stays where it is until the approval is withdrawn.',
  pending: 'Its token sheet awaits approval, so it stays where it is until the sheet is returned.',
}

const BY: Record<EntryDetail['placement']['by'], string> = {
  named: 'Named in the report',
  rule: 'A rule',
  manual: 'A person, by hand',
  unattributed: 'Nothing: it named no project or ticket, and no rule took it',
}

function PlaceFacts({ entry: { project, ticket, placement, placed_by_rule } }: { entry: EntryDetail }) {
  const { rule, note, named_project, named_ticket } = placement
  return (
    <Facts
      facts={[
        [
          'Project',
          project && (
            <To href={addressOf('/entries', { project: project.key })}>
              <bdi>{project.name === project.key ? project.key : `${project.key} · ${project.name}`}</bdi>
            </To>
          ),
        ],
        ['Ticket', ticket && <To href={addressOf('/entries', { ticket: ticket.key })}>{ticket.key}</To>],
        ['Placed by', rule ? null : BY[placement.by]],
        [
          'By the rule',
          rule && (
            <>
              <bdi>{rule.name}</bdi>, version {rule.version}
              {placed_by_rule && <RuleThen said={placed_by_rule} />}
            </>
          ),
        ],
        ['Named, but unknown', (named_ticket ?? named_project) && <bdi>{named_ticket ?? named_project}</bdi>],
        ['Note', note && <bdi>{sentence(note)}</bdi>],
      ]}
    />
  )
}

/** The rule as it was when it placed the entry. */
const RuleThen = ({ said: { conditions, ticket } }: { said: NonNullable<EntryDetail['placed_by_rule']> }) => (
  <Stack gap={2} mt={4}>
    {conditions.map(({ field, matches, value }) => (
      <Text key={`${field} ${matches}`} size="sm" c="dimmed" component="div">
        <Code>{field}</Code> matches <Code>{matches}</Code>
        {value !== null && (
          <>
            {' '}
            in <bdi>“{value}”</bdi>
          </>
        )}
      </Text>
    ))}
    {ticket && (
      <Text size="sm" c="dimmed" component="div">
        ticket <Code>{ticket}</Code>
      </Text>
    )}
  </Stack>
)

function PlaceForm({ entry, close }: { entry: EntryDetail; close: () => void }) {
  const [place, setPlace] = useState<Place>(NO_PLACE)
  const [problem, setProblem] = useState<Problem | null>(null)
  const send = useSend({
    send: () => answer(api['token-entries']({ id: entry.id }).patch(placeBody(place))),
    changes: CHANGED_BY_ENTRIES,
    done: () => `Placed on ${placeInWords(place)}.`,
    after: close,
    quiet: true,
  })
  const errors = Object.fromEntries(problem?.issues.map((issue) => [issue.pointer, sentence(issue.message)]) ?? [])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setProblem(null)
        send.mutate(undefined, { onError: setProblem })
      }}
    >
      <Stack gap="sm" mt="sm">
        <PlaceFields value={place} change={setPlace} errors={errors} />
        {problem && problem.issues.length === 0 && (
          <Alert color="red" variant="light" role="alert" title={problem.title}>
            {problem.message}
          </Alert>
        )}
        <Text size="xs" c="dimmed">
          What a person places stays: neither rules nor later reports of its session move it.
        </Text>
        <Group gap="xs">
          <Button type="submit" size="xs" loading={send.isPending} disabled={!isChosen(place)}>
            Place
          </Button>
          <Button size="xs" variant="default" onClick={close}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
