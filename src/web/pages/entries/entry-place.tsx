/** The project and ticket of an entry, what assigned it, and a form to change it. */
import { Alert, Button, Code, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { CHANGED_BY_ENTRIES, type EntryDetail } from '../../parts/entries/entry.ts'
import { isChosen, NO_PLACE, type Place, placeBody, placeInWords } from '../../parts/place.ts'
import { PlaceFields } from '../../parts/place-fields.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Caption, Note } from '../../parts/texts.tsx'
import { ThingLink } from '../../parts/thing-link.tsx'
import { answer, api } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import type { Problem } from '../../server/problem.ts'
import { sentence } from '../../server/problem.ts'
import { useSend } from '../../server/send.ts'
import { DrawerForm, useOpener } from './drawer-form.tsx'
import { Facts, Part } from './facts.tsx'
import { isLocked, rightsTo } from './rights.ts'

export function EntryPlace({ entry }: { entry: EntryDetail }) {
  const [isPlacing, setPlacing] = useState(false)
  const rights = rightsTo(entry, useMe())
  const opener = useOpener(isPlacing)
  return (
    <Part
      title="Assignment"
      aside={
        rights.place &&
        !isPlacing && (
          <Button size="compact-sm" variant="default" ref={opener} onClick={() => setPlacing(true)}>
            {entry.project || entry.ticket ? 'Change' : 'Assign'}
          </Button>
        )
      }
    >
      <PlaceFacts entry={entry} />
      {isPlacing && <PlaceForm entry={entry} close={() => setPlacing(false)} />}
      {isLocked(entry) && <Note>{LOCKED[entry.status]}</Note>}
    </Part>
  )
}

const LOCKED: Partial<Record<EntryDetail['status'], string>> = {
  billed: 'This entry is on a bill and cannot be reassigned. Void the bill to release it.',
  approved: 'This entry is approved and cannot be reassigned. Withdraw the approval first.',
  pending: 'This entry’s token sheet is waiting for approval. It cannot be reassigned until the sheet is returned.',
}

const BY: Record<EntryDetail['placement']['by'], string> = {
  named: 'Named in the report',
  rule: 'Placement rule',
  manual: 'A person',
  unattributed: 'Not assigned: the report named no project or ticket, and no rule matched',
}

function PlaceFacts({ entry: { project, ticket, placement, placed_by_rule } }: { entry: EntryDetail }) {
  const { rule, note, named_project, named_ticket } = placement
  return (
    <Facts
      facts={[
        [
          'Project',
          project && (
            <ThingLink kind="project" of={project.id}>
              {projectLabel(project)}
            </ThingLink>
          ),
        ],
        [
          'Ticket',
          ticket && (
            <ThingLink kind="ticket" of={ticket.id}>
              {ticket.key}
            </ThingLink>
          ),
        ],
        ['Assigned by', rule ? null : BY[placement.by]],
        [
          'Assigned by rule',
          rule && (
            <>
              <bdi>{rule.name}</bdi>, version {rule.version}
              {placed_by_rule && <RuleThen rule={placed_by_rule} />}
            </>
          ),
        ],
        ['Unknown name in report', (named_ticket ?? named_project) && <bdi>{named_ticket ?? named_project}</bdi>],
        ['Note', note && <bdi>{sentence(note)}</bdi>],
      ]}
    />
  )
}

/** The version of the rule that assigned the entry. */
const RuleThen = ({ rule: { conditions, ticket } }: { rule: NonNullable<EntryDetail['placed_by_rule']> }) => (
  <Stack gap={2} mt={4}>
    {conditions.map(({ field, matches, value }) => (
      <Note key={`${field} ${matches}`} component="div">
        <Code>{field}</Code> matches <Code>{matches}</Code>
        {value !== null && (
          <>
            {' '}
            in <bdi>“{value}”</bdi>
          </>
        )}
      </Note>
    ))}
    {ticket && (
      <Note component="div">
        ticket <Code>{ticket}</Code>
      </Note>
    )}
  </Stack>
)

function PlaceForm({ entry, close }: { entry: EntryDetail; close: () => void }) {
  const [place, setPlace] = useState<Place>(NO_PLACE)
  const [problem, setProblem] = useState<Problem | null>(null)
  const send = useSend({
    of: entry,
    send: (_, options) => answer(api['token-entries']({ id: entry.id }).patch(placeBody(place), options)),
    changes: CHANGED_BY_ENTRIES,
    done: () => (place.kind === 'nothing' ? 'Assignment removed.' : `Assigned to ${placeInWords(place)}.`),
    after: close,
    quiet: true,
  })
  const errors = Object.fromEntries(problem?.issues.map((issue) => [issue.pointer, sentence(issue.message)]) ?? [])
  return (
    <DrawerForm
      close={close}
      submit={(event) => {
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
        <Caption>Manual assignments are kept: rules and later reports of the session do not change them.</Caption>
        <Group gap="xs">
          <Button type="submit" size="xs" loading={send.isPending} disabled={!isChosen(place)}>
            Assign
          </Button>
          <Button size="xs" variant="default" onClick={close}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </DrawerForm>
  )
}
