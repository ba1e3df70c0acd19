import { existsSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type {
  Bill,
  BillDelivery,
  BillDocument,
  BillHead,
  BillSending,
  CreditNoteRequest,
} from '../../features/bills/schema.ts'
import type { BillsService, BillView, DocumentFormat } from '../../features/bills/service.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted, printCsv } from '../terminal/numbers.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'
import { collect } from '../work-text.ts'
import {
  addBillFlags,
  type BillFlags,
  checked,
  each,
  readBillFlags,
  readLine,
  recipientsOf,
  refusedInFlags,
} from './request.ts'
import { printBill, printBills, printPreview, totalText } from './text.ts'

interface Flags extends DatabaseFlags {
  json?: boolean
}

const BILL = 'number or id (bil_…) of the bill'

const service = () => import('../../features/bills/service.ts')

const exact = <Shape>(value: unknown) => parseExactJson(JSON.stringify(value)) as Shape

/** A bill as the API returns it: the JSON text and the parsed value. */
async function shown(bills: BillsService, view: BillView): Promise<{ text: string; bill: Bill }> {
  const text = await bills.billText(view)
  return { text, bill: parseExactJson(text) as Bill }
}

export function addBillsCommands(program: Command): void {
  const bills = program
    .command('bills')
    .description('Preview, send, list and export bills; void, credit, deliver and mark them as paid')
    .addHelpText(
      'after',
      examples(
        'tally bills preview --month 2026-11 --client "Acme Ltd"',
        'tally bills send --month 2026-11 --client "Acme Ltd" --tax 19 --tax-name VAT',
        'tally bills export 2026-0001 --format pdf',
      ),
    )
  addAskingCommands(bills)
  addReadingCommands(bills)
  addMovingCommands(bills)
}

function addAskingCommands(bills: Command): void {
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
      const flags = command.optsWithGlobals<Flags & BillFlags>()
      const body = await refusedInFlags(readBillFlags(flags))
      const preview = await refusedInFlags(withServices(flags, (all) => all.bills.preview(body)))
      if (flags.json) return printJson(preview)
      printPreview(exact<BillDocument>(preview.document))
    })

  addBillFlags(bills.command('send').description('Send a bill: freeze its entries, assign a number and deliver it'))
    .option('--deliver-to <addresses>', 'e-mail addresses instead of the client’s; none to skip delivery', collect)
    .option('--message <text>', 'message at the start of the e-mail')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON, as returned by POST /api/v1/bills')
    .addHelpText(
      'after',
      examples(
        'tally bills send --month 2026-11 --client "Acme Ltd" --tax 19 --tax-name VAT',
        'tally bills send --month 2026-11 --client Globex --currency EUR --exchange-rate 0.92 --line "Set-up=250" --yes',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        Flags & BillFlags & { deliverTo?: string[]; message?: string; yes?: boolean }
      >()
      await send(flags)
    })
}

async function send(
  flags: Flags & BillFlags & { deliverTo?: string[]; message?: string; yes?: boolean },
): Promise<void> {
  const { json = false, yes = false, message } = flags
  const { BillSending } = await import('../../features/bills/schema.ts')
  const { text, bill } = await refusedInFlags(
    readBillFlags(flags).then((body) =>
      withServices(flags, async ({ bills }, { by }) => {
        const asked = { deliver_to: recipientsOf(flags.deliverTo), message }
        const sending = (await checked(BillSending, asked)) as Pick<BillSending, 'deliver_to' | 'message'>
        const { digest, document } = await bills.preview(body)
        const preview = exact<BillDocument>(document)
        if (!json) printPreview(preview)
        if (!json) print('')
        await confirm(`Send this bill for ${totalText(preview)}?`, { yes })
        return shown(bills, (await bills.send({ ...body, ...sending, digest }, { by })).bill)
      }),
    ),
  )
  if (json) return print(text)
  print(`Sent bill ${bill.number} (${bill.id}): ${totalText(bill.document)}, due ${bill.due_on}.`)
  tellDelivery(bill)
}

function tellDelivery({ number, deliveries }: Bill): void {
  const waiting = deliveries.filter(({ state }) => state === 'queued')
  if (waiting.length > 0) {
    print(
      `The server delivers it to ${waiting.map(({ to }) => to).join(', ')}. To check the delivery: tally bills show ${number}`,
    )
  } else {
    note('It is not delivered by e-mail: there is no recipient, or no mail server is configured (TALLY_SMTP_URL).')
    note(`To create its PDF: tally bills export ${number}`)
  }
}

interface ListFlags extends Flags {
  state?: string[]
  client?: string
  project?: string
  from?: string
  to?: string
  limit?: string
  page?: string
  csv?: boolean
}

function addReadingCommands(bills: Command): void {
  bills
    .command('list')
    .description('List bills, newest first')
    .option('--state <state>', 'sent, paid or void; repeatable or comma-separated', collect)
    .option('--client <client>', 'name or id of a client')
    .option('--project <project>', 'key, name, alias or id of a project')
    .option('--from <day>', 'issued on or after this day')
    .option('--to <day>', 'issued on or before this day')
    .option('--limit <number>', 'bills per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .option('--csv', 'print CSV, all pages')
    .option('--json', 'print JSON, as returned by GET /api/v1/bills')
    .addHelpText(
      'after',
      examples('tally bills list --state sent', 'tally bills list --from 2026-01-01 --csv > bills.csv'),
    )
    .action(async (_flags, command: Command) => list(command.optsWithGlobals<ListFlags>()))

  bills
    .command('show')
    .description('Show a bill: its lines, totals, state and deliveries')
    .argument('<bill>', BILL)
    .option('--json', 'print JSON, as returned by GET /api/v1/bills/{id}')
    .addHelpText('after', examples('tally bills show 2026-0001'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { text, bill } = await withServices(flags, async (all) => shown(all.bills, await all.bills.getBill(which)))
      if (flags.json) return print(text)
      printBill(bill)
    })

  bills
    .command('export')
    .description('Write a bill to a file, as a document for the client or data for bookkeeping')
    .argument('<bill>', BILL)
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

async function list(flags: ListFlags): Promise<void> {
  const { BILL_COLUMNS, minorDigitsOf, readBillList } = await service()
  const {
    limit,
    after,
    format: _,
    ...filter
  } = readBillList({
    state: flags.state,
    client: flags.client,
    project: flags.project,
    from: flags.from,
    to: flags.to,
    limit: flags.limit,
    page: flags.page,
  })
  await withServices(flags, async ({ bills }) => {
    if (flags.csv) return printCsv(bills.everyBill(filter), BILL_COLUMNS)
    const { writeKeyPage } = await import('../../query.ts')
    const views = await bills.listBills(filter, { after, limit: limit + 1 })
    const data = await bills.heads(views.slice(0, limit))
    const nextPage = views.length > limit ? writeKeyPage(views[limit - 1]!.bill.id) : null
    if (flags.json) return printJson({ data, has_more: nextPage !== null, next_page: nextPage })
    if (data.length === 0) return note('No matching bills. Send one with `tally bills send`.')
    printBills(exact<BillHead[]>(data), minorDigitsOf)
    if (nextPage !== null) note(`More bills: add --page ${nextPage}`)
  })
}

const FORMATS: DocumentFormat[] = ['pdf', 'html', 'csv', 'entries-csv', 'journal', 'json', 'void-notice']

interface ExportFlags extends DatabaseFlags {
  format: DocumentFormat
  output?: string
  force?: boolean
}

async function exportBill(which: string, flags: ExportFlags): Promise<void> {
  const { bytes, fileName } = await withServices(flags, (all) => all.bills.renderBill(which, flags.format))
  const path = flags.output ?? fileName
  if (path === '-') {
    await Bun.write(Bun.stdout, bytes as Uint8Array<ArrayBuffer>)
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
  print(`Wrote ${path} (${bytes.length.toLocaleString('en')} bytes).`)
}

/** Changes one bill and prints the result. */
async function act(
  flags: Flags,
  act: (bills: BillsService, by: Parameters<BillsService['payBill']>[2]) => Promise<BillView>,
  tell: (bill: Bill) => void,
): Promise<void> {
  const { text, bill } = await refusedInFlags(
    withServices(flags, async ({ bills }, { by }) => shown(bills, await act(bills, by))),
  )
  if (flags.json) print(text)
  else tell(bill)
}

function addMovingCommands(bills: Command): void {
  bills
    .command('void')
    .description('Void a bill: it keeps its number, and its entries can be billed again')
    .argument('<bill>', BILL)
    .requiredOption('--reason <text>', 'reason, shown on the void notice')
    .option('--no-notice', 'do not send a void notice to the recipients of the bill')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills void 2026-0001 --reason "Sent to the wrong address"'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { reason: string; notice: boolean; yes?: boolean }>()
      const { BillVoiding } = await import('../../features/bills/schema.ts')
      const body = { reason: flags.reason, deliver: flags.notice }
      await refusedInFlags(checked(BillVoiding, body))
      await confirm(`Void bill ${which}? This cannot be undone.`, { yes: flags.yes ?? false })
      await act(
        flags,
        (service, by) => service.voidBill(which, body, by),
        (bill) => {
          print(`Voided bill ${bill.number}; its ${counted(bill.entries, 'entry', 'entries')} can be billed again.`)
          const told = bill.deliveries.filter(({ notice, state }) => notice === 'void' && state === 'queued')
          if (told.length > 0) print(`The server sends a void notice to ${told.map(({ to }) => to).join(', ')}.`)
          print(`To send a replacement, use tally bills send --replaces ${bill.number}`)
        },
      )
    })

  bills
    .command('paid')
    .description('Mark a bill as paid')
    .argument('<bill>', BILL)
    .option('--on <day>', 'payment date (default: today)')
    .option('--reference <text>', 'payment reference, such as of the transfer')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills paid 2026-0001 --on 2026-12-03 --reference "Transfer 4711"'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { on?: string; reference?: string }>()
      const { BillPayment } = await import('../../features/bills/schema.ts')
      const body = { on: flags.on, reference: flags.reference }
      await refusedInFlags(checked(BillPayment, body))
      await act(
        flags,
        (service, by) => service.payBill(which, body, by),
        ({ number, paid }) => print(`Marked bill ${number} as paid on ${paid!.on}.`),
      )
    })

  bills
    .command('credit')
    .description('Correct a paid bill with a credit note, for given lines or for the whole remaining amount')
    .argument('<bill>', BILL)
    .option('--line <text=amount>', 'amount to credit, such as "Billed twice=12.50"; repeatable', each)
    .option('--note <text>', 'note above the lines')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tally bills credit 2026-0001 --line "Billed twice=12.50"', 'tally bills credit 2026-0001'),
    )
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { line?: string[]; note?: string; yes?: boolean }>()
      const { CreditNoteRequest: schema } = await import('../../features/bills/schema.ts')
      const body = { lines: flags.line?.map(readLine), note: flags.note }
      const asked = (await refusedInFlags(checked(schema, body))) as CreditNoteRequest
      const what = flags.line ? 'these lines' : 'the whole remaining amount'
      await confirm(`Credit ${what} of bill ${which}? This cannot be undone.`, { yes: flags.yes ?? false })
      await act(
        flags,
        (service, by) => service.creditBill(which, asked, by),
        (bill) => {
          print(
            `Created credit note ${bill.number} (${bill.id}) for bill ${bill.corrects!.number}: ${totalText(bill.document)}.`,
          )
          print(`To send it by e-mail: tally bills deliver ${bill.number}`)
        },
      )
    })

  bills
    .command('deliver')
    .description('Send a bill by e-mail again, or to other addresses; for a void bill, send the void notice')
    .argument('<bill>', BILL)
    .option('--to <addresses>', 'e-mail addresses instead of the client’s; repeatable or comma-separated', collect)
    .option('--message <text>', 'message at the start of the e-mail')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills deliver 2026-0001 --to ada@acme.example --message "As you asked."'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { to?: string[]; message?: string }>()
      const { BillDelivery: schema } = await import('../../features/bills/schema.ts')
      const body = { to: recipientsOf(flags.to), message: flags.message }
      const asked = (await refusedInFlags(checked(schema, body))) as BillDelivery
      await act(flags, (service, by) => service.deliverBill(which, asked, by), tellDelivery)
    })
}
