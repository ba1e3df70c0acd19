/** One condition of a rule: a field, and the glob or regular expression that its value must match. Pure. */
import { RE2JS } from 're2js'
import type { RuleCondition } from '../../database/schema/records.ts'
import { foldName } from '../../lib/names.ts'
import { matchesGlob } from './glob.ts'
import { type Alternatives, literalsIgnoringCase, literalsOfExpression, literalsOfGlob } from './literals.ts'
import { type Subject, valuesOf } from './subject.ts'

/** The matches of the expressions' named groups. */
export type Groups = Record<string, string>

export interface CompiledCondition extends RuleCondition {
  /** Undefined for a glob. */
  expression: RE2JS | undefined
  /** The glob in canonical form: names and globs are compared ignoring case. */
  foldedGlob: string
  /** What every value that it matches contains: of each element, at least one literal. */
  literals: Alternatives[]
}

/** A regular expression is written between slashes, `/…/`, with an `i` to ignore case. Everything else is a glob. */
const EXPRESSION = /^\/(.+)\/(i?)$/s

/**
 * Bytes of memory for the states of one expression, for which the library's default is 8 MiB: with the more than a
 * thousand expressions that rules may have, at most half a gigabyte. Usual expressions need a few kilobytes; one that
 * needs more drops its states and recomputes them.
 */
const STATES_BYTES = 512 * 1024

/** Throws re2js's error for an invalid expression. */
export function compileCondition({ field, matches }: RuleCondition): CompiledCondition {
  const [, source, flag] = EXPRESSION.exec(matches) ?? []
  const foldedGlob = foldName(matches)
  if (source === undefined) {
    return { field, matches, expression: undefined, foldedGlob, literals: literalsOfGlob(foldedGlob) }
  }
  const ignoresCase = flag === 'i'
  const expression = compileExpression(source, ignoresCase)
  const literals = ignoresCase ? literalsIgnoringCase(RE2JS.compile(source)) : literalsOfExpression(expression)
  return { field, matches, expression, foldedGlob, literals }
}

function compileExpression(source: string, ignoresCase: boolean): RE2JS {
  const expression = RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0)
  const { dfa } = expression.re2()
  dfa.stateBudget = STATES_BYTES
  dfa.memBudget = STATES_BYTES
  return expression
}

export function holdsFor(condition: CompiledCondition, subject: Subject): boolean {
  return valuesOf(condition.field, subject).some((value) => isMet(condition, value))
}

function isMet({ expression, foldedGlob }: CompiledCondition, value: string): boolean {
  return expression ? expression.test(value) : matchesGlob(foldedGlob, foldName(value))
}

/** The matches of the expression's named groups in the first value that it matches. */
export function groupsOf({ field, expression }: CompiledCondition, subject: Subject): Groups {
  for (const value of expression ? valuesOf(field, subject) : []) {
    const matcher = expression!.matcher(value)
    if (!matcher.find()) continue
    const found = Object.entries(matcher.getNamedGroups())
    return Object.fromEntries(found.filter((group): group is [string, string] => group[1] !== null))
  }
  return {}
}
