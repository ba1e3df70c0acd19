/** `tally bills`. */

import { existsSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import {
  creditBill,
  deliverBill,
  getBill,
  getBillTotals,
  listBills,
  voidBill,
} from '../../features/bills/operations/bills.ts'
import { payBill, reverseBillPayment, unpayBill } from '../../features/bills/operations/payments.ts'
import { getBillRun } from '../../features/bills/operations/sending.ts'
import type { Bill, BillDocument } from '../../features/bills/schema.ts'
import type { DocumentFormat } from '../../features/bills/service.ts'
import { CommandError } from '../failures.ts'
import { numberOf } from '../flags/body.ts'
import { parseCount } from '../flags/entry.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson, printPieces } from '../terminal/print.ts'
import { type CommandFlags, type DatabaseFlags, withServices } from '../with-services.ts'
import { deliveryText, exact } from './bill.ts'
import {
  addBillFlags,
  addresses,
  type BillFlags,
  readBillFlags,
  readLine,
  refusedInFlags,
  withUsualBasis,
} from './request.ts'
import { addBillsSendCommand } from './send.ts'
import { BILL_COLUMNS, balanceText, printBill, printPreview, printRun, totalsText, totalText } from './text.ts'

const subject = 'bill'

export function addBillsCommands(program: Command): void {
  const bills = program
    .command('bills')
    .description('Preview, send, list and export bills; record payments; void, credit and deliver')
    .addHelpText(
      'after',
      examples(
        'tally bills preview --month 2026-11 --client "Acme Ltd"',
        'tally bills send --month 2026-11 --client "Acme Ltd" --tax 19 --tax-name VAT',
        'tally bills export 2026-0001 --format pdf',
      ),
    )
  addBillsPreviewCommand(bills)
  addBillsSendCommand(bills)
  addListing(bills, listBills, {
    description: 'List bills, newest first',
    paged: true,
    flags: {
      client: '--client <client>',
      project: '--project <project>',
      ticket: '--ticket <ticket>',
      from: { flag: '--from <day>', doc: 'issued on or after this day' },
      to: { flag: '--to <day>', doc: 'issued on or before this day' },
      month: { flag: '--month <month>', doc: 'whose period ends in this month' },
      overdue: { flag: '--overdue', doc: 'only bills that are overdue', value: 'true' },
      delivery_failed: { flag: '--delivery-failed', doc: 'only bills that were not delivered', value: 'true' },
    },
    examples: ['tally bills list --overdue', 'tally bills list --from 2026-01-01 --csv > bills.csv'],
    columns: BILL_COLUMNS,
    howToAdd: 'Send one with `tally bills send`.',
    below: async (services, call) => totalsText(await getBillTotals.run(services, call)),
  })
  addAction(bills, getBill, {
    name: 'show',
    description: 'Show a bill: its lines, totals, state and deliveries',
    subject,
    examples: ['tally bills show 2026-0001'],
    show: printBill,
  })
  addAction(bills, getBillRun, {
    name: 'run',
    description: 'Show the bills of a month: whom to bill, how much, and what still needs a decision',
    flags: {
      month: '--month <month>',
      include_earlier: '--include-earlier <yes-or-no>',
      leave_unpriced: { flag: '--leave-unpriced', doc: 'leave out unpriced entries', value: 'true' },
      basis: { flag: '--basis <basis>', doc: 'what entries cost (default: as on the last bill of each)' },
      provisional: {
        flag: '--provisional',
        doc: 'bill shares of periods of plans that are not closed',
        value: 'true',
      },
      rate: { flag: '--rate <rate>', doc: 'exchange rate, such as EUR:0.92; repeatable' },
    },
    examples: ['tally bills run --month 2026-11', 'tally bills run --month 2026-11 --basis allocated --provisional'],
    show: printRun,
  })
  addBillsExportCommand(bills)
  addAction(bills, voidBill, {
    name: 'void',
    description: 'Void a bill or credit note: it keeps its number, and the entries of a bill can be billed again',
    subject,
    flags: {
      deliver: { flag: '--no-notice', doc: 'do not send a void notice to the recipients of the bill', value: false },
    },
    examples: ['tally bills void 2026-0001 --reason "Sent to the wrong address"'],
    first: getBill,
    confirm: (_, { kind, number }) =>
      `Void ${kind === 'bill' ? 'bill' : 'credit note'} ${number}? This cannot be undone.`,
    show: voidedText,
  })
  addAction(bills, payBill, {
    name: 'paid',
    description: 'Record a payment of a bill, of the whole open balance or of a part',
    subject,
    flags: {
      amount: {
        flag: '--amount <amount>',
        doc: 'paid amount in the currency of the bill (default: the open balance)',
        read: (text) => numberOf('--amount', text),
      },
      on: { flag: '--on <day>', doc: 'payment date (default: today)' },
    },
    examples: [
      'tally bills paid 2026-0001 --on 2026-12-03 --reference "Transfer 4711"',
      'tally bills paid 2026-0001 --amount 250',
    ],
    show: (bill) =>
      bill.paid
        ? `Marked bill ${bill.number} as paid on ${bill.paid.on}.`
        : `Recorded a payment of bill ${bill.number}; ${balanceText(bill)} is still open.`,
  })
  addAction(bills, unpayBill, {
    name: 'unpaid',
    description: 'Reverse the payments of a bill, or one of them: they stay listed, but no longer count',
    subject,
    options: [
      new Option('--payment <number>', 'reverse only this payment, as numbered by `tally bills show`').argParser(
        parseCount,
      ),
    ],
    examples: [
      'tally bills unpaid 2026-0001 --reason "Recorded for the wrong bill"',
      'tally bills unpaid 2026-0001 --payment 2 --reason "The direct debit was returned"',
    ],
    run: (services, call, { payment }: { payment?: number }) =>
      payment === undefined
        ? unpayBill.run(services, call)
        : reverseBillPayment.run(services, { ...call, params: { ...call.params, payment: String(payment) } }),
    show: (bill) => `Reversed; ${balanceText(bill)} of bill ${bill.number} is open.`,
  })
  addAction(bills, creditBill, {
    name: 'credit',
    description: 'Correct a paid bill with a credit note, for given lines or for the whole remaining amount',
    subject,
    flags: {
      lines: {
        flag: '--line <text=amount>',
        doc: 'amount to credit, such as "Billed twice=12.50"; repeatable',
        read: (text, before: object[] = []) => [...before, readLine(text)],
      },
      note: { flag: '--note <text>', doc: 'note above the lines' },
      release: {
        flag: '--release',
        doc: 'release the entries of the bill, so that they can be billed again',
        value: true,
      },
    },
    examples: [
      'tally bills credit 2026-0001 --line "Billed twice=12.50"',
      'tally bills credit 2026-0001',
      'tally bills credit 2026-0001 --release',
    ],
    confirm: (bill, _, { lines, release }) =>
      `Credit ${lines ? 'these lines' : 'the whole remaining amount'} of bill ${bill}${release ? ' and release its entries' : ''}? This cannot be undone.`,
    show: ({ number, id, corrects, document }, _, { release }) =>
      [
        `Created credit note ${number} (${id}) for bill ${corrects!.number}: ${totalText(document)}.`,
        ...(release ? [`The entries of bill ${corrects!.number} can be billed again.`] : []),
        `To send it by e-mail: tally bills deliver ${number}`,
      ].join('\n'),
  })
  addAction(bills, deliverBill, {
    name: 'deliver',
    description: 'Send a bill by e-mail again, or to other addresses; for a void bill, send the void notice',
    subject,
    flags: {
      to: {
        flag: '--to <addresses>',
        doc: 'e-mail addresses instead of the client’s; repeatable or comma-separated',
        read: addresses,
      },
      message: { flag: '--message <text>', doc: 'message at the start of the e-mail' },
    },
    examples: ['tally bills deliver 2026-0001 --to ada@acme.example --message "As you asked."'],
    confirm: (bill, _, { to }) => `Send an e-mail about bill ${bill}${to ? ` to ${to.join(', ')}` : ''}?`,
    show: deliveryText,
  })
}

function voidedText({ kind, number, corrects, entries, deliveries }: Bill): string {
  const notified = deliveries.filter(({ notice, state }) => notice === 'void' && state === 'queued')
  return [
    kind === 'bill'
      ? `Voided bill ${number}; its ${counted(entries, 'entry', 'entries')} can be billed again.`
      : `Voided credit note ${number}; it no longer reduces what bill ${corrects!.number} charges.`,
    ...(notified.length > 0 ? [`The server sends a void notice to ${notified.map(({ to }) => to).join(', ')}.`] : []),
    ...(kind === 'bill' ? [`To send a replacement, use tally bills send --replaces ${number}`] : []),
  ].join('\n')
}

function addBillsPreviewCommand(bills: Command): void {
  addBillFlags(
    bills
      .command('preview')
      .description('Show the bill that would be sent now, and what it leaves out, without writing anything'),
  )
    .option('--json', 'print JSON, as returned by POST /api/v1/bills/preview')
    .addHelpText(
      'after',
      examples(
        'tally bills preview --month 2026-11',
        'tally bills preview --from 2026-11-01 --to 2026-11-15 --project ACME --group-by ticket,model',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & BillFlags>()
      const body = await refusedInFlags(readBillFlags(flags))
      const preview = await refusedInFlags(
        withServices(flags, async (all) => all.bills.preview(await withUsualBasis(body, all))),
      )
      if (flags.json) return printJson(preview)
      printPreview(exact<BillDocument>(preview.document))
    })
}

const FORMATS: DocumentFormat[] = ['pdf', 'html', 'csv', 'entries-csv', 'journal', 'json', 'void-notice']

interface ExportFlags extends DatabaseFlags {
  format: DocumentFormat
  output?: string
  force?: boolean
}

function addBillsExportCommand(bills: Command): void {
  bills
    .command('export')
    .description('Write a bill to a file, as a document for the client or data for bookkeeping')
    .argument('<bill>', 'id (bil_…) or number of the bill')
    .addOption(new Option('--format <format>', 'format of the document').choices(FORMATS).default('pdf'))
    .option('-o, --output <file>', 'output file, or - for standard output (default: named after the bill)')
    .option('--force', 'overwrite an existing file')
    .addHelpText(
      'after',
      examples('tally bills export 2026-0001', 'tally bills export 2026-0001 --format journal -o - >> 2026.journal'),
    )
    .action(async (which: string, _flags, command: Command) => {
      await exportBill(which, command.optsWithGlobals<ExportFlags>())
    })
}

async function exportBill(which: string, flags: ExportFlags): Promise<void> {
  const { bytes, fileName } = await withServices(flags, (all) => all.bills.renderBill(which, flags.format))
  const path = flags.output ?? fileName
  if (path === '-') {
    await printPieces([bytes])
    return
  }
  const isThere = () =>
    new CommandError(`${path} already exists. Choose another file with -o, or add --force to overwrite it.`)
  if (!flags.force && existsSync(path)) throw isThere()
  try {
    writeFileSync(path, bytes, { flag: flags.force ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere()
    throw error
  }
  print(`Wrote ${path} (${counted(bytes.length, 'byte')}).`)
}
