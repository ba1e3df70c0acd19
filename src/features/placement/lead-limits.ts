/** What a rule of a lead may contain: less than one of an admin, because leads may be hostile. Pure. */

import type { RuleCondition } from '../../database/schema/records.ts'
import type { Issue } from '../../errors.ts'
import { hasMoreCharacters } from '../../lib/characters.ts'
import { escapeExpression } from '../../lib/expressions.ts'
import { weightOf } from './expression-weight.ts'
import type { Rule } from './match.ts'
import { PATTERN_LIMIT } from './rule-issues.ts'

/** Of all further conditions together; `/(?<ticket>ACME-[0-9]+)/` has 8. Compiling as many takes at most 20 ms. */
const WEIGHT_LIMIT = 100

/** A summary has up to 1,000 characters, the value of a label 256, and matching takes as much longer. */
const SUMMARY_WEIGHT = 4

/** A class such as `\pL` takes as long to compile as so many characters. */
const UNICODE_CLASS_WEIGHT = 20

/** Rules of leads for one project. A rule finds tickets by an expression, so that one is enough for a repository. */
const PROJECT_LIMIT = 20

/**
 * Of all further conditions of a project: every report from one of its repositories may be compared with all of them.
 * With 30 to 50 ns for each instruction and character, and up to two instructions for each item, that takes 10 ms.
 */
const PROJECT_WEIGHT_LIMIT = 300

/** Of all rules, so that those of leads leave room for those of admins. */
const LEADS_LIMIT = 300

/** All conditions of a rule for a repository. */
export function conditionsOf({ repository, conditions }: { repository: string; conditions: RuleCondition[] }) {
  return [exactly('labels.repository', repository), ...conditions.map(({ field, matches }) => ({ field, matches }))]
}

/** What it costs to compile and match a further condition. */
const weightOfCondition = ({ field, matches }: RuleCondition): number =>
  weightOf(matches, UNICODE_CLASS_WEIGHT) * (field === 'summary' ? SUMMARY_WEIGHT : 1)

/** Where a proposal has the field of a rule with this pointer: its first condition is the one on the repository. */
export function pointerInProposal(pointer: string): string {
  const [, index, rest = ''] = /^\/conditions\/(\d+)(.*)$/.exec(pointer) ?? []
  if (index === undefined) return pointer
  return index === '0' ? '/repository' : `/conditions/${Number(index) - 1}${rest}`
}

/** What no project's leads may say, before anything is compiled. */
export function issuesOfLeadRule({
  repository,
  conditions,
}: {
  repository: string
  conditions: RuleCondition[]
}): Issue[] {
  const { matches } = exactly('labels.repository', repository)
  const issues: Issue[] = []
  if (hasMoreCharacters(matches, PATTERN_LIMIT)) {
    const message = `has too many special characters for a rule: its pattern would have ${[...matches].length} characters, and can have ${PATTERN_LIMIT}; ask an admin to add a rule with a glob`
    issues.push({ pointer: '/repository', code: 'too_long', message })
  }
  let weight = 0
  for (const [index, condition] of conditions.entries()) {
    weight += weightOfCondition(condition)
    if (weight <= WEIGHT_LIMIT) continue
    const message =
      'is too complex for a proposed rule; use smaller repetition counts, + and *, fewer Unicode classes, and labels instead of the summary'
    issues.push({ pointer: `/conditions/${index}/matches`, code: 'too_large', message })
    break
  }
  return issues
}

/** Why there cannot be another rule of leads like `added`. `rules` are all others. */
export function issueOfLeadRules(
  rules: readonly Rule[],
  added: Pick<Rule, 'project' | 'conditions'>,
): Issue | undefined {
  const ofLeads = rules.filter(({ leadRepository }) => leadRepository !== null)
  const ofProject = ofLeads.filter(({ project }) => project.id === added.project.id)
  // The first condition is the one on the repository.
  const weight = [...ofProject, added]
    .flatMap(({ conditions }) => conditions.slice(1))
    .reduce((sum, each) => sum + weightOfCondition(each), 0)
  const refuse = (message: string): Issue => ({ pointer: '', code: 'too_many', message })
  if (ofProject.length >= PROJECT_LIMIT) {
    return refuse(`leads can make at most ${PROJECT_LIMIT} rules for a project; remove one, or use an expression`)
  }
  if (ofLeads.length >= LEADS_LIMIT) {
    return refuse(`leads can make at most ${LEADS_LIMIT} rules altogether; ask an admin to add the rule`)
  }
  if (weight > PROJECT_WEIGHT_LIMIT) {
    return refuse('the expressions of the leads’ rules for this project are too large; use globs, or remove a rule')
  }
  return undefined
}

/** As an expression: globs ignore case, and would match values of other labels than those that the text names. */
function exactly(field: string, text: string): RuleCondition {
  return { field, matches: `/^${escapeExpression(text)}$/` }
}
