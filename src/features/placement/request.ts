/** New rules and samples as callers send them. */
import { composeName } from '../../lib/names.ts'
import type { NewRuleFields } from './rule-list.ts'
import type { NewRule, Sample } from './schema.ts'
import type { Subject } from './subject.ts'

export function readNewRule({ ticket = null, ...rule }: NewRule): NewRuleFields {
  return { ...rule, ticket }
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
