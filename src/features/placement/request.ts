/** New rules and samples as callers send them. */
import { PROPOSAL_STATES } from '../../database/schema/values.ts'
import { composeName } from '../../lib/names.ts'
import { queryReader } from '../../schema/query.ts'
import type { NewProposalFields, ProposalQuery } from './proposals.ts'
import type { NewRuleFields } from './rule-list.ts'
import type { NewProposal, NewRule, Sample } from './schema.ts'
import type { Subject } from './subject.ts'

export function readNewRule({ ticket = null, ...rule }: NewRule): NewRuleFields {
  return { ...rule, ticket }
}

export function readProposal({ ticket = null, conditions = [], ...proposal }: NewProposal): NewProposalFields {
  return { ...proposal, conditions, ticket }
}

export const readProposalList = queryReader((query): ProposalQuery => {
  const { limit, after } = query.listPage()
  return { state: query.oneOf('state', PROPOSAL_STATES), limit, after }
})

/** A sample as rules see an entry. A person is matched by either of their names. */
export function readSample(sample: Sample): Subject {
  const { agent_manager: manager = '' } = sample
  return {
    agentHarness: composeName(sample.agent_harness ?? ''),
    agentName: composeName(sample.agent_name ?? ''),
    model: composeName(sample.model ?? ''),
    provider: sample.provider === undefined ? null : composeName(sample.provider),
    manager: { email: composeName(manager), name: '' },
    summary: sample.summary ?? null,
    labels: sample.labels ?? null,
  }
}
