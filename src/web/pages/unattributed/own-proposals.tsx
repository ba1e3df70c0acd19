/** The rules that the person proposed, and what became of them. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Failure } from '../../parts/failure.tsx'
import { Ago } from '../../parts/figures.tsx'
import { askProposals, type Proposal, proposals } from '../../parts/proposals.ts'
import { Dimmed, SectionTitle } from '../../parts/texts.tsx'
import { answer } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'

const STATES: Record<Proposal['state'], { text: string; color: string }> = {
  open: { text: 'waits for an admin', color: 'blue' },
  accepted: { text: 'accepted', color: 'teal' },
  declined: { text: 'declined', color: 'red' },
  withdrawn: { text: 'withdrawn', color: 'gray' },
}

/** The newest ones: what was decided long ago is of little interest here. */
const SHOWN = 5

export function OwnProposals() {
  const { data, error, refetch } = useQuery({
    queryKey: ['rules', 'proposals', 'own'],
    queryFn: ({ signal }) => askProposals(undefined, signal),
  })
  if (error) return <Failure error={error} retry={refetch} />
  const rows = data?.data ?? []
  const shown = rows.filter(({ state }, index) => state === 'open' || index < SHOWN)
  if (shown.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-labelledby="own-proposals">
      <SectionTitle id="own-proposals">Your proposed rules</SectionTitle>
      {shown.map((proposal) => (
        <OwnProposal key={proposal.id} proposal={proposal} />
      ))}
    </Stack>
  )
}

function OwnProposal({
  proposal: { id, name, repository, project, state, created_at, reason },
}: {
  proposal: Proposal
}) {
  const withdraw = useSend({
    send: () => answer(proposals({ id }).withdraw.post()),
    changes: ['rules', 'audit'],
    done: () => `Proposed rule “${name}” withdrawn.`,
  })
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
        <bdi>{name}</bdi>: <bdi>{repository}</bdi> to <bdi>{project.key}</bdi>, <Ago at={created_at} />{' '}
        <Badge size="sm" variant="light" color={STATES[state].color}>
          {STATES[state].text}
        </Badge>
        {reason !== null && (
          <Dimmed>
            {' '}
            <bdi>{reason}</bdi>
          </Dimmed>
        )}
      </Text>
      {state === 'open' && (
        <Button
          size="compact-sm"
          variant="default"
          loading={withdraw.isPending}
          onClick={() => withdraw.mutate()}
          aria-label={`Withdraw ${name}`}
        >
          Withdraw
        </Button>
      )}
    </Group>
  )
}
