/** Waits for the first entry and shows it when it arrives. */
import { Alert, Anchor, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { Link } from 'wouter'
import { Ago, Count, Money } from '../../parts/figures.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, apiQuery, apiUntil } from '../../server/api.ts'
import { useMe, useRole } from '../../server/me.ts'
import type { CreatedToken } from '../../server/tokens.ts'

/** Frequent, because a person is waiting. */
const EVERY_MS = 2_500

/** Entries are listed by session start; new ones are among this many. */
const WATCHED = '50'

type Entry = Awaited<ReturnType<typeof askEntries>>[number]

const askEntries = async (manager: string | undefined, signal: AbortSignal) =>
  (
    await answer(
      apiUntil(signal)['token-entries'].get({
        query: { limit: WATCHED, ...(manager && { agent_manager: [manager] }) },
      }),
    )
  ).data

/** The first entry to arrive since the page was opened; undefined until then. */
function useArrival(token: CreatedToken | null): Entry | undefined {
  const { person } = useMe()
  // An organization token can report entries of any person.
  const manager = token?.kind === 'org' ? undefined : person.id
  const seen = useRef(new Map<string, ReadonlySet<string>>())
  const { data } = useQuery({
    queryKey: ['entries', 'arrival', manager ?? 'everyone'],
    queryFn: ({ signal }) => askEntries(manager, signal),
    refetchInterval: EVERY_MS,
    staleTime: 0,
  })
  if (!data) return undefined
  const key = manager ?? 'everyone'
  const before = seen.current.get(key)
  if (!before) {
    seen.current.set(key, new Set(data.map(({ id }) => id)))
    return undefined
  }
  return data.find(({ id, created_at }) => !before.has(id) && (!token || created_at >= token.created_at))
}

/** When the token was last used, which shows whether a request reached the server. */
function useLastUse(token: CreatedToken | null, isWaiting: boolean): string | null {
  const { data } = useQuery({
    ...apiQuery(['tokens', token?.id], (api) => api.tokens({ id: token!.id }).get()),
    enabled: token !== null && isWaiting,
    refetchInterval: EVERY_MS,
  })
  return data?.last_used_at ?? null
}

export function Arrival({ token, waits }: { token: CreatedToken | null; waits: string }) {
  const entry = useArrival(token)
  const lastUse = useLastUse(token, entry === undefined)
  return <div aria-live="polite">{entry ? <Arrived entry={entry} /> : <Waiting lastUse={lastUse} waits={waits} />}</div>
}

function Waiting({ lastUse, waits }: { lastUse: string | null; waits: string }) {
  const seesTelemetry = useRole('billing', 'admin')
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Loader size={16} aria-hidden />
        <Text size="sm" fw={600}>
          Waiting for the first entry…
        </Text>
      </Group>
      <Note>{waits}</Note>
      {lastUse && (
        <Text size="sm">
          The token was used <Ago at={lastUse} />, so the agent can reach Tally.{' '}
          {seesTelemetry ? (
            <>
              See{' '}
              <Anchor component={Link} href="/telemetry" size="sm">
                Telemetry
              </Anchor>{' '}
              for what was accepted, what was rejected, and why.
            </>
          ) : (
            'The response to the agent explains what was rejected and why.'
          )}
        </Text>
      )}
    </Stack>
  )
}

function Arrived({ entry }: { entry: Entry }) {
  const { agent_harness, agent_name, model, tokens, cost, project } = entry
  return (
    <Alert color="teal" variant="light" icon={<IconCheck />} title="Entry received">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          <bdi>{agent_name}</bdi> with <bdi>{agent_harness}</bdi> and <bdi>{model}</bdi>: <Count value={tokens.total} />{' '}
          tokens, <Money amount={cost} />,{' '}
          {project ? <>assigned to {<bdi>{project.key}</bdi>}</> : 'not assigned to a project yet'}.
        </Text>
        <Group gap="xs">
          <Button component={Link} href={`/entries?open=${entry.id}`} size="xs">
            View entry
          </Button>
          {!project && (
            <Button component={Link} href="/unattributed" size="xs" variant="default">
              Assign to project
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}
