/** Rules that leads propose, for those who decide. */
import { Button, Code, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answer } from '../server/api.ts'
import { useRole } from '../server/me.ts'
import { useSend } from '../server/send.ts'
import { ApplyRules } from './apply-rules.tsx'
import { fieldTitle } from './condition.ts'
import { ConfirmChange } from './confirm.tsx'
import { Failure } from './failure.tsx'
import { Moment } from './figures.tsx'
import { projectLabel } from './project-label.ts'
import { askProposals, type Proposal, proposals } from './proposals.ts'
import { Caption, SectionTitle } from './texts.tsx'

interface ProposedRulesProps {
  /** Whether there are some, where that is known without asking for them. */
  hasSome?: boolean
}

/** Stays mounted after the last one is accepted, which then can be applied to entries. */
export function ProposedRules({ hasSome = true }: ProposedRulesProps) {
  const [accepted, setAccepted] = useState<Proposal | null>(null)
  const [declining, setDeclining] = useState<Proposal | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['rules', 'proposals', 'open'],
    queryFn: ({ signal }) => askProposals('open', signal),
    enabled: hasSome,
  })
  if (error) return <Failure error={error} retry={refetch} />
  const open = hasSome ? (data?.data ?? []) : []
  return (
    <>
      {open.length > 0 && (
        <Stack gap="xs" component="section" aria-labelledby="proposed-rules">
          <SectionTitle id="proposed-rules">Proposed rules</SectionTitle>
          {open.map((proposal) => (
            <OneProposal
              key={proposal.id}
              proposal={proposal}
              accepted={setAccepted}
              decline={() => setDeclining(proposal)}
            />
          ))}
        </Stack>
      )}
      {accepted && (
        <ApplyRules
          isOpen
          close={() => setAccepted(null)}
          filter={{ label: [`repository:${accepted.repository}`], placed: ['none'] }}
        />
      )}
      {declining && <Decline proposal={declining} close={() => setDeclining(null)} />}
    </>
  )
}

interface OneProposalProps {
  proposal: Proposal
  accepted: (proposal: Proposal) => void
  decline: () => void
}

function OneProposal({ proposal, accepted, decline }: OneProposalProps) {
  const mayDecide = useRole('admin')
  const { id, name, conditions, project, ticket, proposed_by, created_at } = proposal
  const accept = useSend({
    send: () => answer(proposals({ id }).accept.post()),
    changes: ['rules', 'audit'],
    done: () => `Rule “${name}” added as the last one. It applies to new entries from now on.`,
    after: accepted,
    quiet: true,
  })
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} miw={0} flex="1 1 260px">
          <Text fw={600}>
            <bdi>{name}</bdi>
          </Text>
          {conditions.map(({ field, matches }, index) => (
            // Conditions have no id.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <Text key={index} size="sm">
              {fieldTitle(field)} <Code style={{ overflowWrap: 'anywhere' }}>{matches}</Code>
            </Text>
          ))}
          <Text size="sm">
            Assign to <bdi>{projectLabel(project)}</bdi>
            {ticket !== null && (
              <>
                , ticket <bdi>{ticket}</bdi>
              </>
            )}
          </Text>
          {accept.error && (
            <Text size="sm" c="red" role="alert">
              {accept.error.message}
            </Text>
          )}
          <Caption>
            Proposed by <bdi>{proposed_by.name}</bdi>, <Moment at={created_at} />
          </Caption>
        </Stack>
        {mayDecide && (
          <Group gap="xs">
            <Button size="sm" loading={accept.isPending} onClick={() => accept.mutate()} aria-label={`Accept ${name}`}>
              Accept
            </Button>
            <Button size="sm" variant="default" onClick={decline} aria-label={`Decline ${name}`}>
              Decline…
            </Button>
          </Group>
        )}
      </Group>
    </Paper>
  )
}

function Decline({ proposal: { id, name, proposed_by }, close }: { proposal: Proposal; close: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Decline “${name}”?`}
      action="Decline proposal"
      isIncomplete={reason.trim() === ''}
      send={() => answer(proposals({ id }).decline.post({ reason: reason.trim() }))}
      changes={['rules', 'audit']}
      done={() => `Proposed rule “${name}” declined.`}
    >
      <Textarea
        label="Reason"
        description={`${proposed_by.name} sees it.`}
        required
        autosize
        minRows={2}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmChange>
  )
}
