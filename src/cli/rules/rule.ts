/** A placement rule on the command line. */
import { type Command, InvalidArgumentError } from 'commander'
import type { RuleBody } from '../../features/placement/schema.ts'
import { type Column, note } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'

/** The service, loaded with the database and not before: `--help` does without it. */
export const placementService = () => import('../../features/placement/service.ts')

export const RULE = 'name or id (rul_…) of the rule'

export interface RuleFieldFlags extends CommandFlags {
  when?: Condition[]
  project?: string
  ticket?: string
}

interface Condition {
  field: string
  matches: string
}

export function collectCondition(text: string, before: Condition[] = []): Condition[] {
  const [, field, matches] = /^([^=]*)=(.*)$/s.exec(text) ?? []
  if (field === undefined) throw new InvalidArgumentError('Use field=pattern, such as agent_harness=codex.')
  return [...before, { field: field.trim(), matches: matches! }]
}

export const WHEN = {
  flag: '--when <field=pattern>',
  doc: 'condition, such as labels.repository=acme/* or labels.branch=/(?<ticket>[A-Z]+-[0-9]+)/i; repeatable, an entry must match all',
  read: collectCondition,
}

export const PLACE_FLAGS = {
  project: { flag: '--project <project>', doc: 'key, name, alias or id of the project to assign entries to' },
  ticket: {
    flag: '--ticket <key>',
    doc: 'ticket to assign entries to, where {name} is replaced by what the named group matched; none for only the project',
  },
}

/** The flags that describe a rule that is not saved. */
export function addRuleFlags(command: Command): Command {
  const { project, ticket } = PLACE_FLAGS
  return command
    .option(WHEN.flag, WHEN.doc, WHEN.read)
    .option(project.flag, project.doc)
    .option(ticket.flag, ticket.doc)
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

export function ruleFields(rule: RuleBody): [name: string, value: string][] {
  for (const warning of rule.warnings) note(warning)
  return [
    ['rule', `${rule.name} (${rule.id})`],
    ['position', String(rule.position)],
    ['state', stateText(rule)],
    ...rule.conditions.map(({ field, matches }, index): [string, string] => [
      index === 0 ? 'when' : 'and',
      `${field} = ${matches}`,
    ]),
    ['place', placeText(rule)],
    ['version', `${rule.version}, changed ${rule.changed_at.slice(0, 10)}`],
  ]
}
