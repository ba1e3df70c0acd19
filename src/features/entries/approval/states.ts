/**
 * The states of entries and of token sheets, defined once (docs/design/states.md): the checks, their messages, and the
 * diagrams there, which `scripts/state-machine.ts` draws, all come from the two tables below. Constraints of the database
 * list the statuses as well. Pure.
 */

import type { Party } from '../../../access/actor.ts'
import type { Approver } from '../../../access/visibility.ts'
import type { SheetStatus, Status } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'

/**
 * Who may make a transition. An approver is anyone with the role billing or admin, or a lead or approver of all projects
 * concerned, or the deputy of one. Only admins may approve their own entries; for everyone else it takes another
 * approver, who is not the owner's deputy either.
 */
export type Who =
  | 'agent'
  | 'owner'
  | 'approver'
  | 'another approver'
  | 'sender of bills'
  | 'another sender of bills'
  | 'owner or sender of bills'

/** `from` is null for creation, `to` for removal. */
interface Transition<State, Action> {
  from: State | null
  action: Action
  to: State | null
  who: Who
}

export const ENTRY_TRANSITIONS = [
  { from: null, action: 'report', to: 'submitted', who: 'agent' },
  // A session that another person has already reported.
  { from: null, action: 'report', to: 'held', who: 'agent' },
  { from: 'submitted', action: 'hold', to: 'held', who: 'agent' },
  // An entry that was approved, rejected or billed when its session was discarded.
  { from: 'submitted', action: 'hold', to: 'discarded', who: 'agent' },
  { from: 'held', action: 'release', to: 'submitted', who: 'another sender of bills' },
  { from: 'held', action: 'discard', to: 'discarded', who: 'owner or sender of bills' },
  { from: 'discarded', action: 'release', to: 'submitted', who: 'another sender of bills' },
  { from: null, action: 'report', to: 'discarded', who: 'agent' },
  { from: 'submitted', action: 'approve', to: 'approved', who: 'another approver' },
  { from: 'approved', action: 'withdraw_approval', to: 'submitted', who: 'approver' },
  { from: 'submitted', action: 'reject', to: 'rejected', who: 'approver' },
  { from: 'rejected', action: 'reopen', to: 'submitted', who: 'another approver' },
  { from: 'submitted', action: 'void', to: 'voided', who: 'approver' },
  { from: 'approved', action: 'void', to: 'voided', who: 'approver' },
  { from: 'rejected', action: 'void', to: 'voided', who: 'approver' },
  { from: 'voided', action: 'restore', to: 'submitted', who: 'another approver' },
  // Corrects a closed period of a plan.
  { from: null, action: 'settle', to: 'approved', who: 'sender of bills' },
  { from: 'submitted', action: 'bill', to: 'billed', who: 'sender of bills' },
  { from: 'approved', action: 'bill', to: 'billed', who: 'sender of bills' },
  { from: 'billed', action: 'void_bill', to: 'submitted', who: 'sender of bills' },
  { from: 'billed', action: 'void_bill', to: 'approved', who: 'sender of bills' },
] as const satisfies Transition<Status, string>[]

/**
 * A transition of a sheet, with the one that all its entries make; an entry on a sheet never makes one of these alone.
 */
interface SheetTransition extends Transition<SheetStatus, SheetAction | 'open'> {
  entries?: SheetMove
}

/** The transition of a sheet's entries. */
export interface SheetMove {
  from: Status
  to: Status
}

export const SHEET_TRANSITIONS: readonly SheetTransition[] = [
  { from: null, action: 'open', to: 'open', who: 'owner' },
  // Adding, changing and removing its entries.
  { from: 'open', action: 'edit', to: 'open', who: 'owner' },
  { from: 'returned', action: 'edit', to: 'returned', who: 'owner' },
  { from: 'open', action: 'submit', to: 'submitted', who: 'owner', entries: { from: 'draft', to: 'pending' } },
  { from: 'returned', action: 'submit', to: 'submitted', who: 'owner', entries: { from: 'draft', to: 'pending' } },
  {
    from: 'submitted',
    action: 'approve',
    to: 'approved',
    who: 'another approver',
    entries: { from: 'pending', to: 'approved' },
  },
  { from: 'submitted', action: 'return', to: 'returned', who: 'approver', entries: { from: 'pending', to: 'draft' } },
  {
    from: 'approved',
    action: 'withdraw_approval',
    to: 'submitted',
    who: 'approver',
    entries: { from: 'approved', to: 'pending' },
  },
  { from: 'open', action: 'remove', to: null, who: 'owner' },
  { from: 'returned', action: 'remove', to: null, who: 'owner' },
]

/** The decisions that people make about entries; the other actions are part of reporting and billing. */
export const DECISIONS = [
  'approve',
  'reject',
  'reopen',
  'withdraw_approval',
  'release',
  'discard',
  'void',
  'restore',
] as const
export type Decision = (typeof DECISIONS)[number]
export type SheetAction = 'edit' | 'submit' | 'approve' | 'return' | 'withdraw_approval' | 'remove'

/** The object of a transition, as needed to check the right to it. */
export interface DecisionSubject {
  /** `The entry ent_…`. */
  name: string
  /** The owner. */
  ownerId: number
  /** The projects, all of which an approver without a role must answer for; null is unattributed work. */
  projectIds: readonly (number | null)[]
}

const WORDS: Record<string, { infinitive: string; first: string }> = {
  approve: { infinitive: 'approve', first: 'Approve it first.' },
  withdraw_approval: { infinitive: 'withdraw the approval of', first: 'Withdraw its approval first.' },
  reject: { infinitive: 'reject', first: 'Reject it first.' },
  reopen: { infinitive: 'reopen', first: 'Reopen it first.' },
  void: { infinitive: 'void', first: 'Void it first.' },
  restore: { infinitive: 'restore', first: 'Restore it first.' },
  void_bill: { infinitive: 'release', first: 'Void its bill first.' },
  release: { infinitive: 'release', first: 'Release it first.' },
  discard: { infinitive: 'discard', first: 'Discard it first.' },
  bill: { infinitive: 'bill', first: 'Bill it first.' },
  submit: { infinitive: 'submit', first: 'Submit it first.' },
  return: { infinitive: 'return', first: 'Return it first.' },
  edit: { infinitive: 'change the entries of', first: '' },
  remove: { infinitive: 'remove', first: 'Remove it first.' },
}

/**
 * Returns the person whose right it is, if a deputy takes the action. Throws `forbidden` (403), which names who may, if
 * the person may not take it. `approvers` are the person and those whose deputy they are.
 */
export function requireRight(
  action: Decision | SheetAction,
  transitions: readonly Pick<Transition<unknown, string>, 'action' | 'who'>[],
  subject: DecisionSubject,
  person: Party['person'],
  approvers: readonly Approver[],
): number | undefined {
  const { who } = transitions.find((transition) => transition.action === action)!
  if (person === null || person.role === 'admin') return undefined
  const verb = WORDS[action]!.infinitive
  const isOwner = subject.ownerId === person.id
  if (who === 'owner') {
    if (!isOwner) throw forbidden(`Only the owner or an admin can ${verb} ${subject.name}.`)
    return undefined
  }
  if (who === 'another sender of bills' || who === 'owner or sender of bills') {
    const isOwnEnough = who === 'owner or sender of bills' && isOwner
    if (person.role !== 'billing' && !isOwnEnough) {
      const others = who === 'owner or sender of bills' ? ', or must be its owner' : ''
      throw forbidden(
        `To ${verb} ${subject.name}, you need the role billing or admin${others}. Your role is ${person.role}.`,
      )
    }
    if (who === 'another sender of bills' && isOwner) {
      throw forbidden(
        `You cannot ${verb} ${subject.name} because it is your own. Ask another person with the role billing or admin.`,
      )
    }
    return undefined
  }
  const able = person.role === 'billing' ? [person.id] : ableApprovers(subject, approvers)
  if (able.length === 0) {
    throw forbidden(
      `To ${verb} ${subject.name}, you need the role billing or admin, or must be a lead or approver of ${led(subject)}. Your role is ${person.role}.`,
    )
  }
  if (who === 'another approver' && isOwner) {
    throw forbidden(
      `You cannot ${verb} ${subject.name} because it is your own. Ask another lead or approver of ${led(subject)}, or a person with the role billing or admin.`,
    )
  }
  const by = who === 'another approver' ? able.find((id) => id !== subject.ownerId) : able[0]
  if (by === undefined) {
    throw forbidden(
      `You cannot ${verb} ${subject.name} as the deputy of its owner. Ask another lead or approver of ${led(subject)}, or a person with the role billing or admin.`,
    )
  }
  return by === person.id ? undefined : by
}

/** Those by whose right, together with the deputy's own, all of the projects may be decided; the person first. */
function ableApprovers({ projectIds }: DecisionSubject, approvers: readonly Approver[]): number[] {
  const [own] = approvers
  if (!own || projectIds.length === 0) return []
  return approvers
    .filter(({ projectIds: ids }) => projectIds.every((id) => id !== null && (own.projectIds.has(id) || ids.has(id))))
    .map(({ userId }) => userId)
}

function led({ projectIds }: DecisionSubject): string {
  return projectIds.length > 1 ? 'all of its projects' : 'its project'
}

function forbidden(detail: string): Problem {
  return new Problem('forbidden', detail)
}

/**
 * The transition for an action in this state. Throws `wrong_status` (409), which names the state and, if there is one,
 * the action that leads to the required state.
 */
export function transitionFrom<Step extends { from: string | null; action: string; to: string | null }>(
  transitions: readonly Step[],
  action: Step['action'],
  state: string,
  name: string,
): Step {
  const steps = transitions.filter((step) => step.action === action)
  const step = steps.find(({ from }) => from === state)
  if (step) return step
  const needed = [...new Set(steps.map(({ from }) => from))]
  const isDone = steps.some(({ to }) => to === state)
  const before = transitions.find(({ from, to }) => from === state && needed.includes(to))
  const advice = isDone ? 'This has already been done.' : before ? (WORDS[before.action]?.first ?? '') : ''
  throw new Problem(
    'wrong_status',
    `Cannot ${WORDS[action]!.infinitive} ${name}: it must be ${needed.join(' or ')}, but is ${state}. ${advice}`.trim(),
  )
}
