/** After the set-up of a server that is private to its machine: imports the sessions that agents have kept there. */
import { Alert, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { AGENTS, type AgentName } from '../../../shared/agents.ts'
import { Count } from '../../parts/figures.tsx'
import { CardTitle } from '../../parts/texts.tsx'
import { answer, api, apiQuery, type Body } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'

type Found = Body<Awaited<ReturnType<(typeof api)['local-sessions']['get']>>>

/** A person waits for the end. */
const EVERY_MS = 1_000

export function FoundSessions() {
  const { data: found } = useQuery({
    ...apiQuery(['local-sessions'], (api) => api['local-sessions'].get()),
    refetchInterval: ({ state }) => (state.data?.state === 'importing' ? EVERY_MS : false),
  })
  const { mutate, isPending } = useSend({
    send: () => answer(api['local-sessions'].post()),
    changes: ['local-sessions', 'entries'],
  })
  if (!found || found.agents.length === 0) return null
  return (
    <Stack gap="xs" mb="xl" maw={860} aria-live="polite">
      <CardTitle>Sessions found on this machine</CardTitle>
      <Text size="sm">
        {found.agents.map(({ agent_harness, files }, at) => (
          <span key={agent_harness}>
            {at > 0 && ', '}
            {AGENTS[agent_harness as AgentName].title} (<Count value={files} /> {files === 1 ? 'file' : 'files'})
          </span>
        ))}
      </Text>
      <State found={found} isPending={isPending} begin={() => mutate()} />
    </Stack>
  )
}

function State({ found: { state, issue }, isPending, begin }: { found: Found; isPending: boolean; begin: () => void }) {
  if (state === 'importing') {
    return (
      <Group gap="xs">
        <Loader size={16} aria-hidden />
        <Text size="sm" fw={600}>
          Importing sessions…
        </Text>
      </Group>
    )
  }
  if (state === 'imported') {
    return (
      <Alert color="teal" variant="light" icon={<IconCheck />} title="Sessions imported">
        <Stack gap="xs" align="flex-start">
          {issue && <Text size="sm">{issue}</Text>}
          <Button component={Link} href="/" size="xs">
            View overview
          </Button>
        </Stack>
      </Alert>
    )
  }
  return (
    <Stack gap="xs" align="flex-start">
      {state === 'failed' && (
        <Alert color="red" variant="light" role="alert">
          {issue}
        </Alert>
      )}
      <Button onClick={begin} loading={isPending}>
        {state === 'failed' ? 'Try again' : 'Import sessions'}
      </Button>
    </Stack>
  )
}
