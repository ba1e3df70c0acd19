/** Waits for the first entry, and shows it as soon as it is there. */
import { Alert, Anchor, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { Link } from 'wouter'
import { Ago, Count, Money } from '../../parts/figures.tsx'
import { answer, api } from '../../server/api.ts'
import { useMe, useRole } from '../../server/me.ts'
import type { CreatedToken } from '../../server/tokens.ts'

/** Somebody sits and waits for it. */
const EVERY_MS = 2_500

/** Entries are listed by when their session started; of what agents report as they work, the new ones are among these. */
const WATCHED = '50'

type Entry = Awaited<ReturnType<typeof askEntries>>[number]

const askEntries = async (manager: string | undefined) =>
  (await answer(api['token-entries'].get({ query: { limit: WATCHED, ...(manager && { agent_manager: [manager] }) } })))
    .data

/** The first entry that was not there when the page was opened; undefined while there is none. */
function useArrival(token: CreatedToken | null): Entry | undefined {
  const { person } = useMe()
  // With an organization token the entry may be anybody's.
  const manager = token?.kind === 'org' ? undefined : person.id
  const seen = useRef(new Map<string, ReadonlySet<string>>())
  const { data } = useQuery({
    queryKey: ['entries', 'arrival', manager ?? 'everybody'],
    queryFn: () => askEntries(manager),
    refetchInterval: EVERY_MS,
    staleTime: 0,
  })
  if (!data) return undefined
  const key = manager ?? 'everybody'
  const before = seen.current.get(key)
  if (!before) {
    seen.current.set(key, new Set(data.map(({ id }) => id)))
    return undefined
  }
  return data.find(({ id, created_at }) => !before.has(id) && (!token || created_at >= token.created_at))
}

/** When the token was used last: it tells a call that arrived from one that never did. */
function useLastUse(token: CreatedToken | null, isWaiting: boolean): string | null {
  const { data } = useQuery({
    queryKey: ['tokens', token?.id],
    queryFn: () => answer(api.tokens({ id: token!.id }).get()),
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
          Waiting for the first entry …
        </Text>
      </Group>
      <Text size="sm" c="dimmed">
        {waits}
      </Text>
      {lastUse && (
        <Text size="sm">
          The token was used <Ago at={lastUse} />, so the agent reaches Tally.{' '}
          {seesTelemetry ? (
            <>
              <Anchor component={Link} href="/telemetry" size="sm" underline="always">
                Telemetry
              </Anchor>{' '}
              says what was taken of it and what was not, and why.
            </>
          ) : (
            'Its answer says what was not taken, and why.'
          )}
        </Text>
      )}
    </Stack>
  )
}

function Arrived({ entry }: { entry: Entry }) {
  const { agent_harness, agent_name, model, tokens, cost, project } = entry
  return (
    <Alert color="teal" variant="light" icon={<IconCheck />} title="It arrived">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          <bdi>{agent_name}</bdi> with <bdi>{agent_harness}</bdi> and <bdi>{model}</bdi>: <Count value={tokens.total} />{' '}
          tokens, <Money amount={cost} />, {project ? <>on {<bdi>{project.key}</bdi>}</> : 'not placed on any work yet'}
          .
        </Text>
        <Group gap="xs">
          <Button component={Link} href={`/entries?open=${entry.id}`} size="xs">
            Look at the entry
          </Button>
          {!project && (
            <Button component={Link} href="/unattributed" size="xs" variant="default">
              Place it
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}
