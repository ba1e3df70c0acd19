import { existsSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type {
  Bill,
  BillDelivery,
  BillDocument,
  BillHead,
  BillSending,
  CreditNoteRequest,
} from '../features/bills/schema.ts'
import type { BillsService, BillView, DocumentFormat } from '../features/bills/service.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import {
  addBillFlags,
  type BillFlags,
  checked,
  each,
  readBillFlags,
  readLine,
  recipientsOf,
  refusedInFlags,
} from './bills-request.ts'
import { printBill, printBills, printPreview, totalText } from './bills-text.ts'
import { confirm } from './confirm.ts'
import { CommandError } from './failures.ts'
import { examples } from './options.ts'
import { note, print, printJson } from './print.ts'
import { counted, printCsv } from './report-text.ts'
import { type DatabaseFlags, withServices } from './with-services.ts'
import { collect } from './work-text.ts'

interface Flags extends DatabaseFlags {
  json?: boolean
}

const BILL = 'number or id (bil_…) of the bill'

const service = () => import('../features/bills/service.ts')

const exact = <Shape>(value: unknown) => parseExactJson(JSON.stringify(value)) as Shape

/** A bill as the API answers it, its text beside what can be read of it. */
async function shown(bills: BillsService, view: BillView): Promise<{ text: string; bill: Bill }> {
  const text = await bills.billText(view)
  return { text, bill: parseExactJson(text) as Bill }
}

export function addBillsCommands(program: Command): void {
  const bills = program
    .command('bills')
    .description('Preview, send, list and export bills; mark them paid or void, correct and deliver them')
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
      .description('Show the bill that would be sent now, and what it leaves out; writes nothing'),
  )
    .option('--json', 'print JSON, as POST /api/v1/bills/preview answers it')
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

  addBillFlags(bills.command('send').description('Send a bill: freeze its entries, give it a number, deliver it'))
    .option('--deliver-to <addresses>', 'e-mail addresses instead of the client’s; none delivers to nobody', collect)
    .option('--message <text>', 'what the e-mail says above the figures')
    .option('--yes', 'do not ask before sending')
    .option('--json', 'print JSON, as POST /api/v1/bills answers it')
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
  const { BillSending } = await import('../features/bills/schema.ts')
  const { text, bill } = await refusedInFlags(
    readBillFlags(flags).then((body) =>
      withServices(flags, async ({ bills }, { by }) => {
        const asked = { deliver_to: recipientsOf(flags.deliverTo), message }
        const sending = (await checked(BillSending, asked)) as Pick<BillSending, 'deliver_to' | 'message'>
        const { digest, document } = await bills.preview(body)
        const preview = exact<BillDocument>(document)
        if (!json) printPreview(preview)
        if (!json) print('')
        await confirm(`Send this bill of ${totalText(preview)}?`, { yes })
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
      `The server delivers it to ${waiting.map(({ to }) => to).join(', ')}; \`tally bills show ${number}\` says how.`,
    )
  } else {
    note(`It is not delivered by e-mail: nobody is named, or no mail server is (TALLY_SMTP_URL).`)
    note(`\`tally bills export ${number}\` writes its PDF.`)
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
    .description('List bills, the last sent first')
    .option('--state <state>', 'sent, paid or void; repeatable or with commas', collect)
    .option('--client <client>', 'name or id of a client')
    .option('--project <project>', 'key, name, alias or id of a project')
    .option('--from <day>', 'issued on this day or later')
    .option('--to <day>', 'issued on this day or earlier')
    .option('--limit <number>', 'bills a page, 1 to 1000 (default 50)')
    .option('--page <page>', 'the next_page of the list before')
    .option('--csv', 'print CSV, all pages')
    .option('--json', 'print JSON, as GET /api/v1/bills answers it')
    .addHelpText(
      'after',
      examples('tally bills list --state sent', 'tally bills list --from 2026-01-01 --csv > bills.csv'),
    )
    .action(async (_flags, command: Command) => list(command.optsWithGlobals<ListFlags>()))

  bills
    .command('show')
    .description('Show a bill: its lines, its sums, its state, and what became of its e-mails')
    .argument('<bill>', BILL)
    .option('--json', 'print JSON, as GET /api/v1/bills/{id} answers it')
    .addHelpText('after', examples('tally bills show 2026-0001'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { text, bill } = await withServices(flags, async (all) => shown(all.bills, await all.bills.getBill(which)))
      if (flags.json) return print(text)
      printBill(bill)
    })

  bills
    .command('export')
    .description('Write a document of a bill to a file: what a client gets, or what bookkeeping takes')
    .argument('<bill>', BILL)
    .addOption(new Option('--format <format>', 'which document').choices(FORMATS).default('pdf'))
    .option('-o, --output <file>', 'the file, or - for standard output; named after the bill where absent')
    .option('--force', 'overwrite a file that is there')
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
    const { writeKeyPage } = await import('../query.ts')
    const views = await bills.listBills(filter, { after, limit: limit + 1 })
    const data = await bills.heads(views.slice(0, limit))
    const nextPage = views.length > limit ? writeKeyPage(views[limit - 1]!.bill.id) : null
    if (flags.json) return printJson({ data, has_more: nextPage !== null, next_page: nextPage })
    if (data.length === 0) return note('There is no such bill. `tally bills send` sends one.')
    printBills(exact<BillHead[]>(data), minorDigitsOf)
    if (nextPage !== null) note(`There are more: add --page ${nextPage}`)
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
  const isThere = () => new CommandError(`${path} is there already. Name another file with -o, or add --force.`)
  if (!flags.force && existsSync(path)) throw isThere()
  try {
    writeFileSync(path, bytes, { flag: flags.force ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere()
    throw error
  }
  print(`Wrote ${path} (${bytes.length.toLocaleString('en')} bytes).`)
}

/** Does something to one bill, and prints what became of it. */
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
    .description('Make a bill void: it keeps its number, and its entries can be billed again')
    .argument('<bill>', BILL)
    .requiredOption('--reason <text>', 'why; it stands on the notice')
    .option('--no-notice', 'do not tell those to whom the bill was delivered')
    .option('--yes', 'do not ask before')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills void 2026-0001 --reason "Sent to the wrong address"'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { reason: string; notice: boolean; yes?: boolean }>()
      const { BillVoiding } = await import('../features/bills/schema.ts')
      const body = { reason: flags.reason, deliver: flags.notice }
      await refusedInFlags(checked(BillVoiding, body))
      await confirm(`Make the bill ${which} void? That cannot be taken back.`, { yes: flags.yes ?? false })
      await act(
        flags,
        (service, by) => service.voidBill(which, body, by),
        (bill) => {
          print(
            `The bill ${bill.number} is void; its ${counted(bill.entries, 'entry', 'entries')} can be billed again.`,
          )
          const told = bill.deliveries.filter(({ notice, state }) => notice === 'void' && state === 'queued')
          if (told.length > 0) print(`The server tells ${told.map(({ to }) => to).join(', ')}.`)
          print(`A bill that replaces it is sent with --replaces ${bill.number}.`)
        },
      )
    })

  bills
    .command('paid')
    .description('Mark a bill as paid')
    .argument('<bill>', BILL)
    .option('--on <day>', 'when it was paid; today where absent')
    .option('--reference <text>', 'such as that of the transfer')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills paid 2026-0001 --on 2026-12-03 --reference "Transfer 4711"'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { on?: string; reference?: string }>()
      const { BillPayment } = await import('../features/bills/schema.ts')
      const body = { on: flags.on, reference: flags.reference }
      await refusedInFlags(checked(BillPayment, body))
      await act(
        flags,
        (service, by) => service.payBill(which, body, by),
        ({ number, paid }) => print(`The bill ${number} was paid on ${paid!.on}.`),
      )
    })

  bills
    .command('credit')
    .description('Correct a paid bill by a credit note: of some lines, or of all that is left of it')
    .argument('<bill>', BILL)
    .option('--line <text=amount>', 'what is given back, such as "Billed twice=12.50"; repeatable', each)
    .option('--note <text>', 'above the lines')
    .option('--yes', 'do not ask before')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tally bills credit 2026-0001 --line "Billed twice=12.50"', 'tally bills credit 2026-0001'),
    )
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { line?: string[]; note?: string; yes?: boolean }>()
      const { CreditNoteRequest: schema } = await import('../features/bills/schema.ts')
      const body = { lines: flags.line?.map(readLine), note: flags.note }
      const asked = (await refusedInFlags(checked(schema, body))) as CreditNoteRequest
      const what = flags.line ? 'these lines' : 'all that is left'
      await confirm(`Credit ${what} of the bill ${which}? That cannot be taken back.`, { yes: flags.yes ?? false })
      await act(
        flags,
        (service, by) => service.creditBill(which, asked, by),
        (bill) => {
          print(
            `Sent credit note ${bill.number} (${bill.id}) on bill ${bill.corrects!.number}: ${totalText(bill.document)}.`,
          )
          print(`\`tally bills deliver ${bill.number}\` sends it by e-mail.`)
        },
      )
    })

  bills
    .command('deliver')
    .description('Send a bill by e-mail again, or to others; of a void one, the notice that it is')
    .argument('<bill>', BILL)
    .option('--to <addresses>', 'e-mail addresses instead of the client’s; repeatable or with commas', collect)
    .option('--message <text>', 'what the e-mail says above the figures')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally bills deliver 2026-0001 --to ada@acme.example --message "As you asked."'))
    .action(async (which: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { to?: string[]; message?: string }>()
      const { BillDelivery: schema } = await import('../features/bills/schema.ts')
      const body = { to: recipientsOf(flags.to), message: flags.message }
      const asked = (await refusedInFlags(checked(schema, body))) as BillDelivery
      await act(flags, (service, by) => service.deliverBill(which, asked, by), tellDelivery)
    })
}
