/** A budget on the command line. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { BudgetBody, NewBudget } from '../../features/budgets/schema.ts'
import { isDay } from '../../lib/calendar.ts'
import type { Services } from '../../services.ts'
import { BASIS_TITLES, COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { numberOf } from '../flags/body.ts'
import { NONE } from '../flags/none.ts'
import { textOrNone } from '../flags/options.ts'
import { yesNoOption } from '../flags/yes-no.ts'
import { counted, inDollars } from '../terminal/numbers.ts'
import type { CommandFlags } from '../with-services.ts'
import { addThresholdFlags, type ThresholdFlags } from './threshold.ts'

export const BUDGET = 'id of the budget (bdg_…), see `tally budgets list`'
export const EXAMPLE_ID = 'bdg_01a1fa172a0277f3983322718874f2ea'

type Measure = NonNullable<NewBudget['measure']>
type Period = NonNullable<NewBudget['period']>

const MEASURES: readonly Measure[] = ['cost', 'billed_amount', 'tokens']
const PERIODS: readonly Period[] = ['day', 'week', 'month', 'quarter', 'year', 'once']

export interface ScopeFlags {
  client?: string
  project?: string
  ticket?: string
  agentManager?: string
  agent?: string
  model?: string
  label?: string
}

export interface BudgetFlags extends CommandFlags, ScopeFlags, ThresholdFlags {
  name?: string
  amount?: string
  measure?: Measure
  basis?: CostBasis
  period?: Period
  from?: string
  to?: string
  rollOver?: boolean
}

/** An empty variable of a script must not make a budget of everything, or check nothing. */
function requireText(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('It must not be empty.')
}

/** Budgets count entries that have something, not those without it, as filters of entries can. */
function requireName(text: string): string {
  if (text !== NONE) return requireText(text)
  throw new InvalidArgumentError('Leave the flag out if it does not matter.')
}

/** What decides which entries count. */
export function addScopeFlags(command: Command, { clearable = false }: { clearable?: boolean } = {}): Command {
  const parse = clearable ? requireText : requireName
  return (
    command
      .option('--client <client>', 'id or name of a client', parse)
      .option('--project <project>', 'id, key, name or alias of a project', parse)
      .option('--ticket <ticket>', 'id or key of a ticket', parse)
      .option('--agent-manager <person>', 'id or e-mail address of a person', parse)
      .option('--agent <name>', 'name of an agent', parse)
      .option('--model <name>', 'model as reported', parse)
      // As in filters of entries; the name of a label contains neither sign.
      .option('--label <name=value>', 'a label, such as repository=acme/web', (text) =>
        parse(text).replace(/^([^=:]+)=/, '$1:'),
      )
  )
}

export function addBudgetFlags(command: Command): Command {
  return addThresholdFlags(
    command
      .option('--from <day>', 'first day; earlier entries do not count', parseDay)
      .option('--to <day>', 'last day', parseDay)
      .addOption(yesNoOption('--roll-over', 'whether unspent budget carries over to the next period (default no)')),
  ).option('--json', 'print JSON')
}

/** Measure, basis and period never change. */
export function addLastingFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--measure <measure>',
        'cost, billed_amount (cost with markup, without what is not billed), or tokens (default cost)',
      ).choices(MEASURES),
    )
    .addOption(
      new Option(
        '--basis <basis>',
        'what cost is; another one than cost is counted each minute (default: the setting of the organization)',
      ).choices(COST_BASES),
    )
    .addOption(
      new Option(
        '--period <period>',
        'the time after which it starts again; once is a single period (default month)',
      ).choices(PERIODS),
    )
}

/** The basis of a new budget: that of the organization, unless a flag names another one. */
export async function basisOf(
  { measure, basis }: Pick<BudgetFlags, 'measure' | 'basis'>,
  { organization }: Pick<Services, 'organization'>,
): Promise<CostBasis | undefined> {
  return basis ?? (measure === 'tokens' ? undefined : (await organization.settings()).costBasis)
}

/** What a budget counts, in words. */
export function measureText({ measure, basis }: Pick<BudgetBody, 'measure' | 'basis'>): string {
  const title = BASIS_TITLES[basis].toLowerCase()
  if (measure === 'cost') return title
  return `${measure.replace('_', ' ')}${basis === 'cost' ? '' : ` by ${title}`}`
}

/** The scope as the API names it. */
export function scopeOf({ client, project, ticket, agentManager, agent, model, label }: ScopeFlags) {
  const given = { client, project, ticket, agent_manager: agentManager, agent_name: agent, model, label }
  return Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined)) as {
    [Name in keyof typeof given]?: string
  }
}

/** The fields that can be changed, without scope and thresholds. */
export function fieldsOf({ name, amount, from, to, rollOver }: BudgetFlags) {
  if (from && to && isDay(from) && isDay(to) && to < from) {
    throw new CommandError('--to must not be earlier than --from.', EXIT_USAGE)
  }
  return {
    name,
    amount: numberOf('--amount', amount),
    starts_on: textOrNone(from),
    ends_on: textOrNone(to),
    roll_over: rollOver,
  }
}

/**
 * Counts what is waiting to be counted, as a running server does every second: without one, what is spent would be
 * unknown.
 */
export async function upToDate({ budgets }: Services): Promise<Services['budgets']> {
  await budgets.count()
  return budgets
}

/** Which entries count, in words. */
export function scopeText({ client, project, ticket, agent_manager, agent_name, model, label }: BudgetBody['scope']) {
  const parts = [
    ['client', client?.name],
    ['project', project?.key],
    ['ticket', ticket?.key],
    ['agent manager', agent_manager?.name],
    ['agent', agent_name],
    ['model', model],
    ['label', label?.replace(':', '=')],
  ].flatMap(([what, name]) => (name ? [`${what} ${name}`] : []))
  return parts.join(', ') || 'all entries'
}

/** `$2,104.50`, or `1,200,000 tokens`. */
export function amountText({ measure }: Pick<BudgetBody, 'measure'>, amount: number): string {
  return measure === 'tokens' ? counted(amount, 'token') : inDollars(amount)
}

const STATES = { within: 'within', nearly: 'nearly used up', exceeded: 'exceeded' }

/** While entries are being counted, a state would be a guess. */
export function stateText({ state, complete }: { state: keyof typeof STATES; complete: boolean }): string {
  return complete ? STATES[state] : 'being counted'
}

function parseDay(text: string): string {
  if (text === NONE || isDay(text)) return text
  throw new InvalidArgumentError('Use a day, such as 2026-11-30.')
}
