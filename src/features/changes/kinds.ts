/** What changed, as far as somebody may know: from the types of events to kinds of data, without any content. Pure. */
import type { VisibleProjects } from '../../access/visibility.ts'
import { EVENT_TYPES, type EventType } from '../../shared/event-types.ts'

export const CHANGE_KINDS = [
  'entries',
  'sheets',
  'budgets',
  'plans',
  'bills',
  'prices',
  'work',
  'rules',
  'people',
  'settings',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** Equal events of a moment, counted once. */
export interface ChangedThing {
  type: EventType
  /** Whose entry it is, and of which project and in which status: as it is now. */
  managerId: number | null
  projectId: number | null
  status: string | null
  /** Of an unattributed entry that reaches people by its labels; null for all others. */
  labelSetId: number | null
}

/** Who is notified. */
export interface Watcher {
  /** Undefined for those who see everything. */
  keys: VisibleProjects | undefined
  /** Of the sets of labels that changed, those whose unattributed entries the watcher sees. */
  labelSetIds?: ReadonlySet<number>
  isAdmin: boolean
}

/** By the beginning of the type; what is missing has no page that shows it. */
const KINDS: readonly [string, ChangeKind][] = [
  ['entry.', 'entries'],
  ['entries.', 'entries'],
  ['sheet.', 'sheets'],
  ['budget.', 'budgets'],
  ['plan', 'plans'],
  ['funding_rule', 'plans'],
  ['bill.', 'bills'],
  ['price', 'prices'],
  ['client.', 'work'],
  ['project.', 'work'],
  ['ticket.', 'work'],
  ['placement_rule', 'rules'],
  ['user.', 'people'],
  ['token.', 'people'],
  ['deputy.', 'people'],
  ['organization.', 'settings'],
]

function kindOf(type: EventType): ChangeKind | undefined {
  return KINDS.find(([beginning]) => type.startsWith(beginning))?.[1]
}

/** The kinds of what changed that the watcher can see, each once. */
export function kindsFor(watcher: Watcher, changed: readonly ChangedThing[]): ChangeKind[] {
  const kinds = new Set(changed.flatMap((thing) => (isFor(watcher, thing) ? (kindOf(thing.type) ?? []) : [])))
  return CHANGE_KINDS.filter((kind) => kinds.has(kind))
}

/** All that the watcher could be notified of. */
export function everyKindFor({ keys, isAdmin }: Watcher): ChangeKind[] {
  if (keys) return ['entries', 'sheets', 'budgets']
  return CHANGE_KINDS.filter((kind) => isAdmin || (kind !== 'people' && kind !== 'settings'))
}

function isFor(
  { keys, isAdmin, labelSetIds }: Watcher,
  { type, managerId, projectId, status, labelSetId }: ChangedThing,
): boolean {
  const { audience } = EVENT_TYPES[type]
  if (audience === 'admins') return isAdmin
  if (!keys) return true
  const leads = projectId !== null && keys.ledIds.includes(projectId)
  const decides =
    projectId !== null && keys.approvedIds.includes(projectId) && (keys.statuses as readonly unknown[]).includes(status)
  const isOfRepository = labelSetId !== null && labelSetIds?.has(labelSetId) === true
  if (audience === 'entries') return managerId === keys.managerId || leads || decides || isOfRepository
  // Which projects have entries on a sheet is not in its event: those who decide about any are notified of every one.
  if (audience === 'sheets') return managerId === keys.managerId || keys.ledIds.length + keys.approvedIds.length > 0
  return audience === 'budgets' && leads
}
