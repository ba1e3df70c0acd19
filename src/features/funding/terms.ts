/** The plans and rules by which entries are paid for, ready to decide. Pure. */
import { makeRoom } from '../../lib/bounded-map.ts'
import type { Id } from '../../lib/id.ts'
import { valuesOf } from '../placement/service.ts'
import type { SaidFunding } from './contract.ts'
import {
  type CompiledPlan,
  type CompiledRule,
  type Decision,
  decideFunding,
  type FundedSubject,
  plansOf,
} from './decide.ts'

/** What was said and decided of an entry. */
export interface Funded extends Decision {
  said: SaidFunding | null
  /** Derived from all of it, so that equal ones have the same in every database. */
  uid: Id<'fnd'>
}

/** Some megabytes of keys; beyond that, the oldest are decided again. */
const REMEMBERED = 20_000

export class FundingDecisions {
  /** Fields that any condition uses: with the person, the day and what was said, they determine the result. */
  readonly #fields: string[]
  readonly #decided = new Map<string, Funded | null>()
  readonly #held = new Map<string, CompiledPlan[]>()

  constructor(
    readonly plans: readonly CompiledPlan[],
    readonly rules: readonly CompiledRule[],
  ) {
    const conditions = [
      ...plans.flatMap(({ versions }) => versions.flatMap((version) => version.conditions)),
      ...rules.flatMap((rule) => rule.conditions),
    ]
    this.#fields = [...new Set(conditions.map(({ field }) => field))]
  }

  /** Whether nothing is decided of entries of which nothing is said. */
  get isEmpty(): boolean {
    return this.plans.length === 0 && this.rules.length === 0
  }

  /** Null if nothing says how it is paid for. */
  decide(subject: FundedSubject, said: SaidFunding | null, day: string): Funded | null {
    if (this.isEmpty && said === null) return null
    const { managerId } = subject
    const key = JSON.stringify([
      managerId,
      day,
      said?.funding,
      said?.plan,
      said?.metered_share,
      this.#fields.map((field) => valuesOf(field, subject)),
    ])
    const known = this.#decided.get(key)
    if (known !== undefined) return known
    const decision = decideFunding(subject, said, day, { held: this.#plansOf(managerId, day), rules: this.rules })
    const isNothing = said === null && decision.reason === 'none' && decision.note === null
    const funded = isNothing ? null : { ...decision, said, uid: uidOf(decision, said) }
    makeRoom(this.#decided, REMEMBERED)
    this.#decided.set(key, funded)
    return funded
  }

  #plansOf(managerId: number, day: string): CompiledPlan[] {
    const key = `${managerId} ${day}`
    const known = this.#held.get(key)
    if (known) return known
    const held = plansOf(managerId, day, this.plans)
    makeRoom(this.#held, REMEMBERED)
    this.#held.set(key, held)
    return held
  }
}

function uidOf({ funding, plan, rule, reason, note }: Decision, said: SaidFunding | null): Id<'fnd'> {
  const share = said?.metered_share
  const content = [
    ...[said?.funding, said?.plan, funding, plan?.uid, rule && [rule.uid, rule.version], reason, note],
    ...(share === undefined ? [] : [share]),
  ]
  const digest = Bun.SHA256.hash(JSON.stringify(content), 'hex') as string
  return `fnd_${digest.slice(0, 32)}`
}

/** What pays for an entry that corrects a closed period of a plan. */
export function correctionBy(plan: Pick<CompiledPlan, 'id' | 'uid' | 'name'>): Funded {
  const decision: Decision = {
    funding: 'plan',
    // Nothing else of a plan is part of a funding.
    plan: plan as CompiledPlan,
    rule: null,
    reason: 'correction',
    note: null,
  }
  return { ...decision, said: null, uid: uidOf(decision, null) }
}
