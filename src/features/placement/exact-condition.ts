/** Conditions that match one text exactly. Pure. */
import type { RuleCondition } from '../../database/schema/records.ts'
import { escapeExpression } from '../../lib/expressions.ts'

/** As an expression: globs ignore case, and would match values of other labels than those that the text names. */
export function exactly(field: string, text: string): RuleCondition {
  return { field, matches: `/^${escapeExpression(text)}$/` }
}
