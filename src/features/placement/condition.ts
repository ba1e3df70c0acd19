/** One condition of a rule: a field, and the glob or expression that its value must match. Pure. */
import { RE2JS } from 're2js'
import type { RuleCondition } from '../../database/records.ts'
import { foldName } from '../../lib/names.ts'
import { matchesGlob } from './glob.ts'
import { type Subject, valuesOf } from './subject.ts'

/** What the named groups of expressions matched. */
export type Groups = Record<string, string>

export interface CompiledCondition extends RuleCondition {
  /** Of an expression; undefined for a glob. */
  expression: RE2JS | undefined
}

/** An expression stands between slashes, `/…/`, and ignores case with an `i` behind them. All else is a glob. */
const EXPRESSION = /^\/(.+)\/(i?)$/s

/** Throws what re2js throws for an expression that is none. */
export function compileCondition({ field, matches }: RuleCondition): CompiledCondition {
  const [, source, flag] = EXPRESSION.exec(matches) ?? []
  const expression = source === undefined ? undefined : RE2JS.compile(source, flag ? RE2JS.CASE_INSENSITIVE : 0)
  return { field, matches, expression }
}

export function holdsFor(condition: CompiledCondition, subject: Subject): boolean {
  return valuesOf(condition.field, subject).some((value) => matches(condition, value))
}

function matches({ expression, matches: glob }: CompiledCondition, value: string): boolean {
  return expression ? expression.test(value) : matchesGlob(foldName(glob), foldName(value))
}

/** What the named groups of the expression matched in the first value that it matches. */
export function groupsOf({ field, expression }: CompiledCondition, subject: Subject): Groups {
  for (const value of expression ? valuesOf(field, subject) : []) {
    const matcher = expression!.matcher(value)
    if (!matcher.find()) continue
    const found = Object.entries(matcher.getNamedGroups())
    return Object.fromEntries(found.filter((group): group is [string, string] => group[1] !== null))
  }
  return {}
}
