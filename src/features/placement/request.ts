/** New rules and samples as callers send them. */
import { PROPOSAL_STATES } from '../../database/schema/values.ts'
import { composeName } from '../../lib/names.ts'
import { Query, type QueryTexts } from '../../schema/query.ts'
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

/** Throws 422 with every issue. */
export function readProposalList(texts: QueryTexts): ProposalQuery {
  const query = new Query(texts)
  const { limit, after } = query.listPage()
  const read = { state: query.oneOf('state', PROPOSAL_STATES), limit, after }
  query.finish()
  return read
}

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
