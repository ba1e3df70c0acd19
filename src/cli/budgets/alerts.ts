import type { Command } from 'commander'
import type { BudgetAlertBody } from '../../features/budgets/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { minute, note, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { amountText, EXAMPLE_ID, upToDate } from './budget.ts'

interface Flags extends CommandFlags, ColumnFlags {
  budget?: string
  limit?: string
  page?: string
}

export function addBudgetsAlertsCommand(budgets: Command): void {
  budgets
    .command('alerts')
    .description('List alerts of budgets, newest first')
    .option('--budget <budget>', 'only alerts of this budget (bdg_…)')
    .option('--limit <number>', 'alerts per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON, as returned by GET /api/v1/budgets/alerts')
    .addHelpText('after', examples('tally budgets alerts', `tally budgets alerts --budget ${EXAMPLE_ID} --json`))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { budget, limit, page } = flags
      const { readAlertList } = await import('../../features/budgets/service.ts')
      const query = readAlertList({ budget, limit, page })
      const listed = await withServices(flags, async (services) => (await upToDate(services)).listAlerts(null, query))
      if (flags.json) return printJson(listed)
      if (listed.data.length === 0)
        return note('No alerts. An alert is created when a threshold of a budget is reached.')
      printTable<BudgetAlertBody>(
        [
          { title: 'WHEN (UTC)', of: ({ at }) => minute(at) },
          { title: 'BUDGET', of: ({ budget }) => budget.name },
          { title: 'PERIOD FROM', rank: 1, of: ({ period }) => period.from ?? '–' },
          {
            title: 'THRESHOLD',
            of: ({ of, percent }) => (of === 'forecast' ? `forecast of ${percent}%` : `${percent}%`),
          },
          { title: 'AMOUNT', align: 'right', of: (alert) => amountText(alert, alert.spent) },
          { title: 'AVAILABLE', align: 'right', of: (alert) => amountText(alert, alert.available) },
          { title: 'NOTIFIED (UTC)', rank: 1, of: ({ notified_at }) => minute(notified_at) },
          { title: 'BUDGET ID', rank: 2, of: ({ budget }) => budget.id },
        ],
        listed.data,
        flags,
      )
      if (listed.has_more) note(`More alerts: add --page ${listed.next_page}`)
    })
}
