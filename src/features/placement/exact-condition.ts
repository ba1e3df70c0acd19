/** Conditions that match one text exactly. Pure. */
import type { RuleCondition } from '../../database/schema/records.ts'

/** Characters with a special meaning in expressions, and the slash that ends one. */
const SIGNS = /[\\^$.*+?()[\]{}|/]/g

/** As an expression: globs ignore case, and would match values of other labels than those that the text names. */
export function exactly(field: string, text: string): RuleCondition {
  return { field, matches: `/^${text.replace(SIGNS, '\\$&')}$/` }
}
