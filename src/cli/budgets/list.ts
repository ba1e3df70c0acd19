import type { Command } from 'commander'
import type { BudgetBody } from '../../features/budgets/schema.ts'
import { parseDecimal } from '../../lib/money.ts'
import type { Services } from '../../services.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { emptyText } from '../flags/filters.ts'
import { collect, examples } from '../flags/options.ts'
import { note, printJsonList, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { archivedText, type ListFlags, listedText } from '../work-commands.ts'
import { amountText, scopeText, stateText, upToDate } from './budget.ts'

interface Flags extends ListFlags {
  project?: string[]
  client?: string[]
  ticket?: string[]
  agentManager?: string[]
  state?: string[]
}

export function addBudgetsListCommand(budgets: Command): void {
  budgets
    .command('list')
    .description('List budgets, newest first, with what is spent in the current period')
    .option('--project <project>', 'id, key, name or alias of a project; repeatable or comma-separated', collect)
    .option('--client <client>', 'id or name of a client; repeatable or comma-separated', collect)
    .option('--ticket <ticket>', 'id or key of a ticket; repeatable or comma-separated', collect)
    .option('--agent-manager <person>', 'id or e-mail address of a person; repeatable or comma-separated', collect)
    .option('--state <state>', 'within, nearly (from 80%) or exceeded; repeatable or comma-separated', collect)
    .option('--archived', 'only archived budgets')
    .option('--all', 'include archived budgets')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally budgets list',
        'tally budgets list --state nearly,exceeded',
        'tally budgets list --client "Acme Ltd" --json',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const listed = await withServices(flags, async (services) => {
        await services.projects.requireKnown('project', flags.project, '/query/project')
        await services.projects.requireKnown('client', flags.client, '/query/client')
        return (await Array.fromAsync(pagesOf(await upToDate(services), flags))).flat()
      })
      if (flags.json) return printJsonList(listed)
      printTable<BudgetBody>(
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'COUNTS', rank: 1, of: ({ scope }) => scopeText(scope) },
          { title: 'PERIOD', rank: 1, of: periodText },
          { title: 'SPENT', align: 'right', of: (budget) => amountOf(budget, 'spent') },
          { title: 'AVAILABLE', align: 'right', of: (budget) => amountOf(budget, 'available') },
          { title: 'USED', align: 'right', of: usedText },
          {
            title: 'STATE',
            of: ({ archived_at, current }) => archivedText(archived_at) ?? (current ? stateText(current) : '–'),
          },
          { title: 'ID', of: ({ id }) => id },
        ],
        listed,
        flags,
      )
      if (listed.length === 0)
        note(emptyText(flags, listedText(flags, 'budgets'), 'Add one with `tally budgets add --amount 2500`.'))
    })
}

async function* pagesOf(budgets: Services['budgets'], flags: Flags) {
  const { readBudgetList } = await import('../../features/budgets/service.ts')
  const { project, client, ticket, agentManager, state, archived, all } = flags
  for (let page: string | undefined; ; ) {
    const query = readBudgetList({
      project,
      client,
      ticket,
      agent_manager: agentManager,
      state,
      archived: all ? 'include' : archived ? 'only' : undefined,
      limit: '1000',
      page,
    })
    const { data, next_page } = await budgets.listBudgets(null, query)
    yield data
    if (next_page === null) return
    page = next_page
  }
}

function periodText({ period, current, archived_at }: BudgetBody): string {
  if (!current) return archived_at === null ? `${period}, not now` : period
  return current.from === null && current.to === null
    ? period
    : `${period}, ${current.from ?? ''} – ${current.to ?? ''}`
}

function amountOf(budget: BudgetBody, name: 'spent' | 'available'): string {
  return budget.current ? amountText(budget, budget.current[name]) : '–'
}

/** Rounded down, because nothing is shown as used up before it is. */
function usedText({ current }: BudgetBody): string {
  if (!current) return '–'
  // Amounts are JSON's exact numbers, not ones to calculate with.
  const [spent = 0n, available = 0n] = [current.spent, current.available].map((one) =>
    parseDecimal(JSON.stringify(one), 9),
  )
  return available === 0n ? '–' : `${(spent * 100n) / available}%`
}
