/** Rules in an order that people choose, each with a name of its own: what those of placement and of funding share. */
import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../database/database.ts'
import { notFound, Problem } from '../../errors.ts'
import { foldName } from '../../lib/names.ts'
import { type AuditService, difference } from '../audit/service.ts'

interface NamedRule {
  id: number
  uid: string
  name: string
}

/** A rule with its position, from 1. */
export interface Positioned<Rule> {
  rule: Rule
  position: number
}

interface RuleOrderOptions {
  /** What one is called, such as `funding rule`. */
  one: string
  /** What they decide, for the audit log. */
  of: 'placement' | 'funding'
  audit: Pick<AuditService, 'record'>
  /** Stores the position of a rule. */
  move: (tx: Tx, id: number, change: { position: number }) => Promise<void>
}

export function ruleOrder<Rule extends NamedRule>({ one, of, audit, move }: RuleOrderOptions) {
  const positioned = (rules: readonly Rule[]): Positioned<Rule>[] =>
    rules.map((rule, index) => ({ rule, position: index + 1 }))

  /** Writes every position, so that on PostgreSQL, of two simultaneous changes of the order, the second one runs again. */
  async function write(tx: Tx, ordered: readonly Rule[]): Promise<void> {
    for (const [index, { id }] of ordered.entries()) await move(tx, id, { position: index + 1 })
  }

  return {
    positioned,
    write,

    /** By id, or by name. Throws `not_found`. */
    get(rules: readonly Rule[], named: string): Positioned<Rule> {
      const index = rules.findIndex(({ uid, name }) => uid === named || foldName(name) === foldName(named))
      if (index < 0) throw notFound(`The ${one} '${named}'`)
      return { rule: rules[index]!, position: index + 1 }
    },

    /** Throws `already_exists`. */
    refuseTakenName(name: string, others: readonly Rule[]): void {
      const namesake = others.find((other) => foldName(other.name) === foldName(name))
      if (!namesake) return
      const detail = `A ${one} named '${name}' already exists (${namesake.uid}). Choose another name, or change that rule.`
      throw new Problem('already_exists', detail)
    },

    /**
     * Throws `rules_changed` (409) unless every rule is named exactly once.
     * @param check may refuse the new order
     */
    async reorder(
      tx: Tx,
      by: Actor,
      { rules, ids, check }: { rules: readonly Rule[]; ids: readonly string[]; check?: (ordered: Rule[]) => void },
    ): Promise<Positioned<Rule>[]> {
      const byId = new Map<string, Rule>(rules.map((rule) => [rule.uid, rule]))
      const ordered = [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
      if (ids.length !== rules.length || ordered.length !== rules.length) throw rulesChanged(one)
      check?.(ordered)
      await write(tx, ordered)
      const names = (inOrder: readonly Rule[]) => ({ order: inOrder.map(({ name }) => name) })
      const differs = difference(names(rules), names(ordered))
      const object = { id: `${of}-rules`, name: `${of} rules` }
      if (differs) await audit.record(tx, by, { action: `${of}_rules.ordered`, object, ...differs })
      return positioned(ordered)
    },
  }
}

function rulesChanged(one: string): Problem {
  const detail = `The order must name every ${one} exactly once, and the rules have changed. List them again, and send their ids in the new order.`
  return new Problem('rules_changed', detail)
}
