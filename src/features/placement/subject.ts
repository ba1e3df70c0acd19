/**
 * The fields that placement rules match. Pure. A new one is also in the samples of `schema.ts` and `cli/rules/test.ts`, and
 * in each `Subject` that `entries/` makes: of a report, and of an entry.
 */
import type { LabelMap } from '../../database/schema/records.ts'

export interface Subject {
  /** Empty texts, which only samples have, count as absent. */
  agentHarness: string
  agentName: string
  model: string
  provider: string | null
  manager: { email: string; name: string }
  summary: string | null
  labels: LabelMap | null
}

export const PLAIN_FIELDS = ['agent_harness', 'agent_name', 'model', 'agent_manager', 'provider', 'summary'] as const

const LABEL_PREFIX = 'labels.'

/**
 * The values that a condition matches: none if the field is absent, and both e-mail address and name for the manager.
 */
export function valuesOf(field: string, subject: Subject): string[] {
  switch (field) {
    case 'agent_harness':
      return said(subject.agentHarness)
    case 'agent_name':
      return said(subject.agentName)
    case 'model':
      return said(subject.model)
    case 'agent_manager':
      return [...said(subject.manager.email), ...said(subject.manager.name)]
    case 'provider':
      return said(subject.provider)
    case 'summary':
      return said(subject.summary)
    default: {
      const name = field.slice(LABEL_PREFIX.length)
      // A label may be named `constructor`, and may be empty.
      return subject.labels && Object.hasOwn(subject.labels, name) ? [subject.labels[name]!] : []
    }
  }
}

function said(text: string | null): string[] {
  return text === null || text === '' ? [] : [text]
}
