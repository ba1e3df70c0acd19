/** Validation of rules from HTTP and the command line. Pure. */

import type { RuleCondition } from '../../database/schema/records.ts'
import type { Issue } from '../../errors.ts'
import { hasMoreCharacters } from '../../lib/characters.ts'
import { issuesOfName } from '../../schema/fields.ts'
import { type CompiledCondition, compileCondition } from './condition.ts'
import { weightOf } from './expression-weight.ts'
import { PLAIN_FIELDS } from './subject.ts'
import { issuesOfTemplate } from './ticket-template.ts'

/** Limit of rules, because all of them are listed in one response and ordered by hand. */
export const RULES_LIMIT = 1_000

/** There are six fields, and labels: a condition for each, and some more for exceptions. */
export const CONDITIONS_LIMIT = 20

/**
 * Twice the maximum length of a label's value. Compiling an expression of this length takes at most 0.2 s and 70 MB.
 */
export const PATTERN_LIMIT = 500

/**
 * Instructions of one compiled expression; usual ones have 10 to 50. Matching takes at most about 5 ns per instruction
 * and character, so an expression takes at most 5 ms for a summary of 1,000 characters.
 */
export const EXPRESSION_LIMIT = 1_000

/** Items of an expression before it is compiled, which takes up to 0.1 s for as many; some have fewer instructions. */
const WEIGHT_LIMIT = 10 * EXPRESSION_LIMIT

/**
 * Instructions of all rules together: five hundred rules have about 12,000, and the worst case of this size takes 0.25
 * s.
 */
export const EXPRESSIONS_LIMIT = 50_000

export const FIELD_PATTERN = `^(${PLAIN_FIELDS.join('|')}|labels\\.[a-z0-9_.-]{1,64})$`
export const FIELD_EXPECTED = `must be one of ${PLAIN_FIELDS.join(', ')}, or labels.<name>`
const FIELD = new RegExp(FIELD_PATTERN)

/** The editable fields of a rule. */
export interface RuleFields {
  name: string
  conditions: RuleCondition[]
  /** By id, key, name or alias. */
  project: string
  ticket: string | null
}

export type Compile = (condition: RuleCondition) => CompiledCondition

/**
 * All issues of the fields except the project, which needs the database.
 * @param compile of a caller that compiles the same conditions again
 */
export function issuesOfRule(
  { name, conditions, ticket }: Partial<RuleFields>,
  compile: Compile = compileCondition,
): Issue[] {
  return [
    ...(name === undefined ? [] : issuesOfName(name, '/name')),
    ...(conditions === undefined ? [] : issuesOfNoConditions(conditions)),
    ...(conditions === undefined ? [] : issuesOfConditions(conditions, compile)),
    ...(ticket === undefined || ticket === null ? [] : issuesOfTemplate(ticket, groupNames(conditions ?? [], compile))),
  ]
}

function issuesOfNoConditions(conditions: RuleCondition[]): Issue[] {
  if (conditions.length > 0) return []
  const message = 'must have at least one condition; agent_harness * matches everything'
  return [{ pointer: '/conditions', code: 'too_few', message }]
}

/** Issues of the field `conditions`, which may be empty. */
export function issuesOfConditions(conditions: RuleCondition[], compile: Compile = compileCondition): Issue[] {
  if (conditions.length > CONDITIONS_LIMIT) {
    return [{ pointer: '/conditions', code: 'too_many', message: `must have at most ${CONDITIONS_LIMIT} conditions` }]
  }
  const groups = new Set<string>()
  return conditions.flatMap((condition, index) =>
    issuesOfCondition(condition, `/conditions/${index}`, { groups, compile }),
  )
}

/** @param groups the group names of earlier conditions, to which those of this one are added */
function issuesOfCondition(
  { field, matches }: RuleCondition,
  pointer: string,
  { groups, compile }: { groups: Set<string>; compile: Compile },
): Issue[] {
  const issues: Issue[] = []
  if (!FIELD.test(field)) issues.push({ pointer: `${pointer}/field`, code: 'not_allowed', message: FIELD_EXPECTED })
  const refuse = (code: string, message: string) => issues.push({ pointer: `${pointer}/matches`, code, message })
  if (matches.trim() === '') refuse('too_short', 'must be a glob, or a regular expression between slashes')
  else if (hasMoreCharacters(matches, PATTERN_LIMIT))
    refuse('too_long', `must have at most ${PATTERN_LIMIT} characters`)
  else if (/\p{Cc}/u.test(matches) || !matches.isWellFormed()) {
    refuse(
      'bad_format',
      'must not contain control characters; in a regular expression, write them as \\n, \\t or \\x1b',
    )
  } else if (UNKNOWN_FLAGS.test(matches)) {
    refuse('unknown_flag', 'is a regular expression with unknown flags; only i (ignore case) may follow the last slash')
  } else if (weightOf(matches, 1) > WEIGHT_LIMIT) {
    refuse('too_large', TOO_COMPLEX)
  } else {
    const compiled = tryCompile({ field, matches }, compile)
    if (typeof compiled === 'string') refuse('bad_expression', `is not a valid RE2 regular expression: ${compiled}`)
    else if (sizeOf(compiled) > EXPRESSION_LIMIT) {
      refuse('too_large', TOO_COMPLEX)
    }
    for (const name of typeof compiled === 'string' ? [] : groupsIn(compiled)) {
      if (groups.has(name))
        refuse('duplicate_group', `defines the group '${name}', which an earlier condition already defines`)
      groups.add(name)
    }
  }
  return issues
}

const TOO_COMPLEX = 'is too complex; use smaller repetition counts, or + and *'

/** Letters after the last slash that are flags elsewhere; `/srv/data` remains a glob. */
const UNKNOWN_FLAGS = /^\/.+\/(?=[dgimsuvxy]{1,4}$)(?!i$)/s

/** The compiled condition, or the error of re2js. */
function tryCompile(condition: RuleCondition, compile: Compile): CompiledCondition | string {
  try {
    return compile(condition)
  } catch (error) {
    return (error as Error).message.replace(/^error parsing regexp: /, '')
  }
}

/** The cost of a condition, as its number of instructions. */
export function sizeOf({ expression }: CompiledCondition): number {
  return expression?.programSize() ?? 0
}

function groupsIn({ expression }: CompiledCondition): string[] {
  return Object.keys(expression?.namedGroups() ?? {})
}

function groupNames(conditions: RuleCondition[], compile: Compile): string[] {
  return conditions.flatMap((condition) => {
    // Compiling it would take as long as an attacker wants.
    if (weightOf(condition.matches, 1) > WEIGHT_LIMIT) return []
    const compiled = tryCompile(condition, compile)
    return typeof compiled === 'string' ? [] : groupsIn(compiled)
  })
}
