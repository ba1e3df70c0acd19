import type { Command } from 'commander'
import type { BudgetStatus } from '../../features/budgets/schema.ts'
import { examples } from '../flags/options.ts'
import { counted, countText, percentText } from '../terminal/numbers.ts'
import { minute, printFields, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { archivedText } from '../work-commands.ts'
import { amountText, BUDGET, EXAMPLE_ID, measureText, scopeText, stateText, upToDate } from './budget.ts'
import { thresholdText } from './threshold.ts'

export function addBudgetsShowCommand(budgets: Command): void {
  budgets
    .command('show')
    .description('Show a budget: what is spent and left in the current or latest period, and the forecast for its end')
    .summary('Show what is spent and left of a budget, and the forecast')
    .argument('<budget>', BUDGET)
    .option('--json', 'print JSON, as returned by GET /api/v1/budgets/{id}/status')
    .addHelpText('after', examples(`tally budgets show ${EXAMPLE_ID}`))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { status, names } = await withServices(flags, async (services) => {
        const status = await (await upToDate(services)).getStatus(id, null)
        const ids = status.budget.thresholds.flatMap(({ people = [] }) => people)
        const people = await Promise.all([...new Set(ids)].map((one) => services.people.findUser(one)))
        return { status, names: new Map(people.flatMap((user) => (user ? [[user.uid as string, user.email]] : []))) }
      })
      if (flags.json) return printJson(status)
      printFields(fieldsOf(status, (person) => names.get(person) ?? person))
    })
}

function fieldsOf(status: BudgetStatus, nameOf: (person: string) => string): Parameters<typeof printFields>[0] {
  const { budget, period, spent, available, remaining, rolled_over, percent, forecast } = status
  const { entries, unpriced_entries } = status
  const amount = (number: number) => amountText(budget, number)
  return [
    ['budget', budget.name],
    ['id', budget.id],
    ['counts', `${measureText(budget)} of ${scopeText(budget.scope)}`],
    ['amount', `${amount(budget.amount)} ${budget.period === 'once' ? 'in total' : `per ${budget.period}`}`],
    ['period', spanText(period)],
    ['spent', `${amount(spent)} of ${amount(available)} (${percentText(percent)})`],
    ['rolled over', JSON.stringify(rolled_over) === '0' ? null : amount(rolled_over)],
    ['remaining', amount(remaining)],
    ['counted', status.counted_at && `${minute(status.counted_at)} UTC`],
    ['state', archivedText(budget.archived_at) ?? stateText(status)],
    ['forecast', forecast ? forecastText(forecast, amount) : 'none: needs usage on at least three of the last 28 days'],
    [
      'entries',
      `${counted(entries, 'entry', 'entries')}${unpriced_entries > 0 ? `, ${countText(unpriced_entries)} of them without a known cost` : ''}`,
    ],
    ['roll-over', budget.roll_over ? 'yes' : null],
    ['from', budget.starts_on],
    ['to', budget.ends_on],
    ...(budget.thresholds.length === 0 ? [['thresholds', 'none'] as [string, string]] : []),
    ...budget.thresholds.map((threshold): [string, string] => ['threshold', thresholdText(threshold, nameOf)]),
    ['of project', budget.of_project ? 'yes: it is the budget that `tally projects show` shows' : null],
  ]
}

function spanText({ from, to }: BudgetStatus['period']): string {
  if (from === null && to === null) return 'without a first and last day'
  return `${from === null ? '' : `from ${from} `}${to === null ? '' : `to ${to}`}`.trim()
}

function forecastText(forecast: NonNullable<BudgetStatus['forecast']>, amount: (number: number) => string): string {
  const { low, high, exceeded_on } = forecast
  const range = `${amount(low)} to ${amount(high)} in four of five cases`
  return `${amount(forecast.amount)} (${range})${exceeded_on === null ? '' : `, exceeded on ${exceeded_on}`}`
}
