/** Placement rules for tests without a database, and an entry that they are evaluated for. */
import type { CompiledCondition } from '../../src/features/placement/condition.ts'
import type { Rule } from '../../src/features/placement/match.ts'
import type { Subject } from '../../src/features/placement/subject.ts'

export const SUBJECT: Subject = {
  agentHarness: 'claude-code',
  agentName: 'reviewer',
  model: 'claude-sonnet-4-5',
  provider: null,
  manager: { email: 'ada@example.com', name: 'Ada Lovelace' },
  summary: null,
  labels: null,
}

export const ruleOf = (id: number, conditions: CompiledCondition[], more: Partial<Rule> = {}): Rule => ({
  id,
  uid: `rul_${id}`,
  position: id,
  versionId: id,
  version: 1,
  name: `rule ${id}`,
  enabled: true,
  project: { id: 1, uid: 'prj_1', key: 'ACME', name: 'ACME', archivedAt: null, mergedIntoId: null },
  ticket: null,
  conditions,
  leadRepository: null,
  isForeign: false,
  createdAt: 0,
  changedAt: 0,
  ...more,
})
