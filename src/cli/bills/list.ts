import type { Command } from 'commander'
import type { BillHead, BillTotals } from '../../features/bills/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { emptyText } from '../flags/filters.ts'
import { collect, examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { note, print, printCsv, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { billService, exact } from './bill.ts'
import { printBills, printTotals } from './text.ts'

interface ListFlags extends CommandFlags, ColumnFlags {
  state?: string[]
  client?: string
  project?: string
  ticket?: string
  from?: string
  to?: string
  overdue?: boolean
  limit?: string
  page?: string
  csv?: boolean
}

export function addBillsListCommand(bills: Command): void {
  bills
    .command('list')
    .description('List bills, newest first')
    .option('--state <state>', 'sent, paid or void; repeatable or comma-separated', collect)
    .option('--client <client>', 'name or id of a client')
    .option('--project <project>', 'key, name, alias or id of a project')
    .option('--ticket <ticket>', 'key or id of a ticket that is on them')
    .option('--from <day>', 'issued on or after this day')
    .option('--to <day>', 'issued on or before this day')
    .option('--overdue', 'only bills that are overdue')
    .option('--limit <number>', 'bills per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--csv', 'print CSV, all pages')
    .option('--json', 'print JSON, as returned by GET /api/v1/bills')
    .addHelpText(
      'after',
      examples('tally bills list --overdue', 'tally bills list --from 2026-01-01 --csv > bills.csv'),
    )
    .action(async (_flags, command: Command) => list(command.optsWithGlobals<ListFlags>()))
}

async function list(flags: ListFlags): Promise<void> {
  const { BILL_COLUMNS, minorDigitsOf, readBillList } = await billService()
  const {
    limit,
    after,
    format: _,
    by: __,
    ...filter
  } = readBillList({
    state: flags.state,
    client: flags.client,
    project: flags.project,
    ticket: flags.ticket,
    from: flags.from,
    to: flags.to,
    overdue: flags.overdue ? 'true' : undefined,
    limit: flags.limit,
    page: flags.page,
  })
  await withServices(flags, async ({ bills }) => {
    if (flags.csv) return printCsv(await bills.everyBill(filter), BILL_COLUMNS)
    const { writeKeyPage } = await import('../../schema/query.ts')
    const views = await bills.listBills(filter, { after, limit: limit + 1 })
    const data = await bills.heads(views.slice(0, limit))
    const nextPage = views.length > limit ? writeKeyPage(views[limit - 1]!.bill.id) : null
    if (flags.json) return printJson({ data, has_more: nextPage !== null, next_page: nextPage })
    if (data.length === 0) return note(emptyText(flags, 'bills', 'Send one with `tally bills send`.'))
    printBills(exact<BillHead[]>(data), minorDigitsOf, flags)
    print('')
    printTotals(exact<BillTotals>(await bills.sumBills(filter)), minorDigitsOf)
    if (nextPage !== null) note(`More bills: add --page ${nextPage}`)
  })
}
