import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { conditionsOf } from './lead-limits.ts'
import type { ProposalBody } from './schema.ts'
import type { ProposalView } from './store/proposals.ts'

export function proposalBody({ proposal, project, proposer, decider, ruleUid }: ProposalView): ProposalBody {
  return {
    id: proposal.uid,
    name: proposal.name,
    repository: proposal.repository,
    conditions: conditionsOf(proposal),
    project: { id: project.uid, key: project.key, name: project.name },
    ticket: proposal.ticket,
    state: proposal.state,
    proposed_by: { id: proposer.uid, name: proposer.name },
    created_at: timestamp(proposal.createdAt),
    decided_by: decider && { id: decider.uid, name: decider.name },
    decided_at: timestampOrNull(proposal.decidedAt),
    reason: proposal.reason,
    rule: ruleUid,
  }
}
