/** Funding rules as callers send them. */
import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../database/database.ts'
import { refusal } from '../../errors.ts'
import type { FundingRules } from './rules.ts'
import type { FundingPreviewRequest, NewFundingRule } from './schema.ts'

/** The rule with what a body may leave out. */
export const newRuleOf = (body: NewFundingRule) => ({ conditions: [], plan: null, ...body })

/** The change in a transaction that is rolled back. Throws 422 unless exactly one is named. */
export function changeToPreview(
  { rulesIn }: Pick<FundingRules, 'rulesIn'>,
  by: Actor,
  { rule, replaces, removes, order }: FundingPreviewRequest,
): (tx: Tx) => Promise<unknown> {
  const changes = [rule, removes, order].filter((change) => change !== undefined)
  if (changes.length !== 1) throw refusal('', 'exactly_one', 'must have exactly one of rule, removes and order')
  if (replaces !== undefined && !rule) throw refusal('/replaces', 'not_allowed', 'requires `rule`, as it would be')
  return (tx) => {
    if (removes !== undefined) return rulesIn.remove(tx, by, removes)
    if (order) return rulesIn.order(tx, by, order)
    const { position, ...fields } = newRuleOf(rule!)
    return replaces === undefined
      ? rulesIn.add(tx, by, { ...fields, position })
      : rulesIn.change(tx, by, replaces, fields)
  }
}
