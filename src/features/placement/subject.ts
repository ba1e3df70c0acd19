/** What placement rules look at. Pure. */
import type { LabelMap } from '../../database/records.ts'

export interface Subject {
  agentHarness: string
  agentName: string
  model: string
  provider: string | null
  manager: { email: string; name: string }
  summary: string | null
  labels: LabelMap | null
}

/** What a condition looks at: nothing where the field is absent, and of the manager both e-mail address and name. */
export function valuesOf(field: string, subject: Subject): string[] {
  switch (field) {
    case 'agent_harness':
      return [subject.agentHarness]
    case 'agent_name':
      return [subject.agentName]
    case 'model':
      return [subject.model]
    case 'agent_manager':
      return [subject.manager.email, subject.manager.name]
    case 'provider':
      return present(subject.provider)
    case 'summary':
      return present(subject.summary)
    default:
      return present(subject.labels?.[field.slice(LABEL_PREFIX.length)])
  }
}

export const LABEL_PREFIX = 'labels.'

function present(value: string | null | undefined): string[] {
  return value === null || value === undefined ? [] : [value]
}
