/** A placement rule on the command line. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Party } from '../../access/actor.ts'
import type { RuleBody } from '../../features/placement/schema.ts'
import type { ListedRule, PlacementService } from '../../features/placement/service.ts'
import { act } from '../act.ts'
import { CommandError } from '../failures.ts'
import { type Column, note, printFields } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'

/** The service, loaded with the database and not before: `--help` does without it. */
export const placementService = () => import('../../features/placement/service.ts')

export const JSON_RULE = 'print the rule as JSON, as in the API'

export const RULE = 'name or id (rul_…) of the rule'

export interface RuleFieldFlags extends CommandFlags {
  name?: string
  when?: string[]
  project?: string
  ticket?: string
}

/** Adds the flags that describe a rule. */
export function addRuleFlags(command: Command): Command {
  return command
    .option(
      '--when <field=pattern>',
      'condition, such as labels.repository=acme/* or labels.branch=/(?<ticket>[A-Z]+-[0-9]+)/i; repeatable, an entry must match all',
      (text: string, before: string[] = []) => [...before, text],
    )
    .option('--project <project>', 'key, name, alias or id of the project to assign entries to')
    .option(
      '--ticket <key>',
      'ticket to assign entries to, where {name} is replaced by what the named group matched; none for only the project',
    )
}

/** Conditions from `field=pattern`; absent stays absent. */
export function conditionsOf(texts: string[] | undefined) {
  return texts?.map((text) => {
    const [field = '', ...rest] = text.split('=')
    if (rest.length === 0) {
      throw new CommandError(`--when ${text}: use field=pattern, such as agent_harness=codex.`, 2)
    }
    return { field: field.trim(), matches: rest.join('=') }
  })
}

export function parsePosition(text: string): number {
  const position = Number(text)
  if (Number.isSafeInteger(position) && position >= 1) return position
  throw new InvalidArgumentError('Use a whole number of 1 or more.')
}

function conditionsText({ conditions }: Pick<RuleBody, 'conditions'>): string {
  return conditions.map(({ field, matches }) => `${field}=${matches}`).join(' and ')
}

function placeText({ project, ticket }: RuleBody): string {
  return ticket === null ? project.key : `${project.key}, ticket ${ticket}`
}

function stateText({ enabled, warnings, lead_repository }: RuleBody): string {
  if (!enabled) return 'disabled'
  if (warnings.length > 0) return 'skipped'
  return lead_repository === null ? 'enabled' : 'enabled, of a lead'
}

export const RULE_COLUMNS: Column<RuleBody>[] = [
  { title: '#', of: ({ position }) => String(position), align: 'right' },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'STATE', of: stateText },
  { title: 'WHEN', of: conditionsText },
  { title: 'PLACE', of: placeText },
]

/** Reads or changes one rule and prints it. */
export function actOnRule(
  command: Command,
  work: (placement: PlacementService, self: Party) => Promise<ListedRule>,
): Promise<void> {
  return act(
    command,
    ({ placement }, self) => work(placement, self),
    async (rule) => (await placementService()).ruleBody(rule),
    printRule,
  )
}

function printRule(rule: RuleBody): void {
  printFields([
    ['rule', `${rule.name} (${rule.id})`],
    ['position', String(rule.position)],
    ['state', stateText(rule)],
    ...rule.conditions.map(({ field, matches }, index): [string, string] => [
      index === 0 ? 'when' : 'and',
      `${field} = ${matches}`,
    ]),
    ['place', placeText(rule)],
    ['version', `${rule.version}, changed ${rule.changed_at.slice(0, 10)}`],
  ])
  for (const warning of rule.warnings) note(warning)
}
