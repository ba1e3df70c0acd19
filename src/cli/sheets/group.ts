import type { Command } from 'commander'
import { Problem } from '../../errors.ts'
import type { TokenEntry } from '../../features/entries/schema.ts'
import { removeTokenSheetEntry } from '../../features/sheets/operations/entries.ts'
import {
  approveTokenSheet,
  getTokenSheet,
  removeTokenSheet,
  returnTokenSheet,
  withdrawApprovalOfTokenSheet,
} from '../../features/sheets/operations/sheets.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { CommandError } from '../failures.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { asksFirst, DEPENDS_ON_DATA } from '../flags/confirmation.ts'
import { addEntryFlags, type EntryFlags, readEntry } from '../flags/entry.ts'
import { collect, examples } from '../flags/options.ts'
import { addDayAndEarlierFlags, type DayFlags, dayTexts } from '../flags/period.ts'
import { addAction } from '../operations.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import {
  actOnSheet,
  ENTRY_COLUMNS,
  noteMismatches,
  printOverlaps,
  printSheets,
  SHEET,
  sheetService,
  sheetText,
} from './sheet.ts'

const subject = 'sheet'

export function addSheetsCommands(program: Command): void {
  const sheets = program
    .command('sheets')
    .description('Enter usage by hand on token sheets, and submit and approve them')
    .addHelpText(
      'after',
      examples(
        'tally sheets template > november.csv',
        'tally sheets open --person ada@example.com --month 2026-11',
        'tally sheets import sht_… november.csv',
      ),
    )
  addSheetsListCommand(sheets)
  addSheetsShowCommand(sheets)
  addSheetsTemplateCommand(sheets)
  addSheetsOpenCommand(sheets)
  addSheetsImportCommand(sheets)
  addSheetsAddCommand(sheets)
  addSheetsChangeCommand(sheets)
  addAction(sheets, removeTokenSheetEntry, {
    name: 'remove-entry',
    description: 'Permanently remove a draft entry',
    subject: [subject, 'entry'],
    examples: ['tally sheets remove-entry sht_… ent_…'],
    confirm: (entry) => `Permanently remove ${entry}?`,
    show: (_, entry) => `Removed ${entry}.`,
  })
  addAction(sheets, removeTokenSheet, {
    name: 'remove',
    description: 'Remove an open or returned sheet with its draft entries',
    subject,
    examples: ['tally sheets remove sht_…'],
    first: getTokenSheet,
    confirm: (sheet, { entries }) => `Permanently remove ${sheet} and its ${counted(entries, 'entry', 'entries')}?`,
    show: (_, sheet) => `Removed ${sheet}.`,
  })
  addSheetsSubmitCommand(sheets)
  addAction(sheets, approveTokenSheet, {
    name: 'approve',
    description: 'Approve a submitted sheet with all its entries',
    subject,
    examples: ['tally sheets approve sht_…'],
    show: (sheet) => sheetText('Approved', sheet),
  })
  addAction(sheets, returnTokenSheet, {
    name: 'return',
    description: 'Return a submitted sheet for correction',
    subject,
    flags: { reason: { flag: '--reason <text>', doc: 'reason, shown to the owner of the sheet' } },
    examples: ['tally sheets return sht_… --reason "The session of the 12th was reported as well"'],
    show: (sheet) => sheetText('Returned', sheet),
  })
  addAction(sheets, withdrawApprovalOfTokenSheet, {
    name: 'withdraw-approval',
    description: 'Withdraw the approval of a sheet, which becomes submitted again',
    subject,
    examples: ['tally sheets withdraw-approval sht_…'],
    show: (sheet) => sheetText('Withdrew the approval of', sheet),
  })
}

function addSheetsTemplateCommand(sheets: Command): void {
  sheets
    .command('template')
    .description('Print the CSV header of a file to fill in and import')
    .addHelpText('after', examples('tally sheets template > november.csv'))
    .action(async () => {
      const { TEMPLATE } = await sheetService()
      process.stdout.write(TEMPLATE)
    })
}

function addSheetsShowCommand(sheets: Command): void {
  sheets
    .command('show')
    .description('Show a sheet with its entries and their overlaps with reported entries')
    .argument('<sheet>', SHEET)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally sheets show sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { sheet, entries, overlaps } = await withServices(flags, async (all, { viewer }) => {
        const sheet = await all.sheets.getSheet(id, viewer)
        const entries: TokenEntry[] = []
        for await (const entry of all.entries.listing.exportEntries(viewer, { sheet: [id] })) entries.push(entry)
        return { sheet, entries, overlaps: (await all.sheets.listOverlaps(id, viewer)).data }
      })
      if (flags.json) return printJson({ ...sheet, data: entries, overlaps })
      print(sheetText('Sheet', sheet))
      if (entries.length > 0) print('')
      if (entries.length > 0) printTable(ENTRY_COLUMNS, entries)
      if (overlaps.length > 0) printOverlaps(overlaps)
    })
}

function addSheetsSubmitCommand(sheets: Command): void {
  asksFirst(sheets.command('submit'), DEPENDS_ON_DATA)
    .description('Submit a sheet for approval; overlaps with reported entries are shown first')
    .argument('<sheet>', SHEET)
    .option('--confirm-overlaps', 'submit it even if entries overlap with reported ones')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets submit sht_…', 'tally sheets submit sht_… --confirm-overlaps'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<{ confirmOverlaps?: boolean; yes?: boolean }>()
      const yes = flags.confirmOverlaps || flags.yes
      await actOnSheet(command, 'Submitted', async ({ sheets }, self) => {
        const { data } = await sheets.listOverlaps(id, self.viewer)
        if (data.length > 0 && !yes) {
          printOverlaps(data)
          if (!isInteractive()) {
            throw new CommandError(
              'Entries overlap, so nothing was changed. Remove those that are counted twice, or add --confirm-overlaps or --yes.',
            )
          }
          await confirm('Submit the sheet anyway?', {})
        }
        return sheets.submitSheet(id, self, { confirmOverlaps: yes || data.length > 0 })
      })
    })
}

function addSheetsAddCommand(sheets: Command): void {
  addEntryFlags(
    sheets
      .command('add')
      .description('Add one entry to a sheet, from flags, a JSON file or standard input')
      .argument('<sheet>', SHEET),
  )
    .option('--json', 'print the entry as JSON')
    .addHelpText(
      'after',
      examples(
        'tally sheets add sht_… --harness codex --agent reviewer --model gpt-5-codex --started-at 2026-11-20T17:53:04Z --ended-at 2026-11-20T18:20:41Z --input 6153 --output 1421 --project acme-web',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & EntryFlags>()
      const { text } = await readEntry(flags)
      const { requireDraft } = await sheetService()
      const draft = requireDraft(parseExactJson(text))
      const entry = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.addEntry(id, draft, self)
      })
      if (flags.json) return printJson(entry)
      printTable(ENTRY_COLUMNS, [entry])
      noteMismatches([entry])
    })
}

function addSheetsChangeCommand(sheets: Command): void {
  sheets
    .command('change')
    .description('Change a draft entry; omitted fields keep their values, null clears a field')
    .argument('<sheet>', SHEET)
    .argument('<entry>', 'id of the entry (ent_…)')
    .requiredOption('--set <json>', 'fields to change, such as {"ticket":"ACME-43","summary":null}')
    .option('--json', 'print the entry as JSON')
    .addHelpText('after', examples(`tally sheets change sht_… ent_… --set '{"tokens":{"input":522,"output":300}}'`))
    .action(async (id: string, entryId: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { set: string }>()
      const { requireDraftChange } = await sheetService()
      const change = requireDraftChange(parsed(flags.set))
      const entry = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.changeEntry(id, entryId, change, self)
      })
      if (flags.json) return printJson(entry)
      printTable(ENTRY_COLUMNS, [entry])
    })
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new CommandError(`--set is not valid JSON: ${(error as Error).message}.`, 2)
  }
}

function addSheetsImportCommand(sheets: Command): void {
  sheets
    .command('import')
    .description('Add the rows of a CSV file to a sheet; if any row is invalid, none are added')
    .argument('<sheet>', SHEET)
    .argument('<file>', 'CSV file; - for standard input')
    .option('--dry-run', 'show what would be added, and costs that are far from the list value, without adding it')
    .option('--json', 'print the added entries as JSON')
    .addHelpText('after', examples('tally sheets import sht_… november.csv'))
    .action(async (id: string, file: string, _flags, command: Command) => {
      const { dryRun = false, ...flags } = command.optsWithGlobals<CommandFlags & { dryRun?: boolean }>()
      const text = await (file === '-' ? Bun.stdin : Bun.file(file)).text().catch((error: Error) => {
        throw new CommandError(`${file === '-' ? 'Standard input' : file} cannot be read: ${error.message}.`)
      })
      const imported = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.importEntries(id, text, self, { dryRun }).catch(failWithLines)
      })
      if (flags.json) return printJson(imported)
      printTable(ENTRY_COLUMNS, imported.data)
      noteMismatches(imported.data)
      print(`${dryRun ? 'Would add' : 'Added'} ${counted(imported.added, 'entry', 'entries')}.`)
    })
}

/** Rethrows the issues of a CSV file, one per line, with line numbers and columns. */
function failWithLines(problem: unknown): never {
  const issues = problem instanceof Problem ? (problem.more.issues ?? []) : []
  if (issues.length === 0 || !issues.every(({ pointer }) => pointer.startsWith('/lines'))) throw problem
  const lines = issues.map(({ pointer, message }) => {
    const [, line, ...column] = pointer.slice(1).split('/')
    return `${[...(line ? [`line ${line}`] : ['The file']), ...(column.length > 0 ? [column.join('/')] : [])].join(', ')} ${message}`
  })
  throw new CommandError([...lines, 'Nothing was added.'].join('\n'))
}

function addSheetsListCommand(sheets: Command): void {
  const list = sheets
    .command('list')
    .description('List token sheets, newest first')
    .option('--status <status>', 'open, submitted, approved, returned', collect)
    .option('--person <person>', 'id or e-mail address; repeatable or comma-separated', collect)
  addDayAndEarlierFlags(list, 'periods that begin')
    .option('--limit <number>', 'sheets per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON, as returned by GET /api/v1/token-sheets')
    .addHelpText(
      'after',
      examples('tally sheets list --status submitted', 'tally sheets list --person ada@example.com --json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & ColumnFlags & DayFlags & { status?: string[]; person?: string[]; limit?: string; page?: string }
      >()
      const texts = {
        status: flags.status,
        agent_manager: flags.person,
        ...dayTexts(flags),
        limit: flags.limit,
        page: flags.page,
      }
      const answer = await withServices(flags, async (all, self) =>
        all.sheets.listSheets(self.viewer, await all.sheets.readList(texts, self)),
      )
      if (flags.json) return printJson(answer)
      printSheets(answer.data, flags)
      if (answer.has_more) note(`More sheets: add --page ${answer.next_page}`)
    })
}

function addSheetsOpenCommand(sheets: Command): void {
  asksFirst(sheets.command('open'), DEPENDS_ON_DATA)
    .description('Open a sheet for a person and a period')
    .requiredOption('--person <person>', 'owner of the sheet: id or e-mail address')
    .option('--month <month>', 'a whole month, such as 2026-11')
    .option('--from <day>', 'first day, in the time zone of the organization')
    .option('--to <day>', 'last day, inclusive')
    .option('--note <text>', 'what the sheet is for')
    .option('--another', 'open it even if the person has a sheet with some of these days')
    .option('--json', 'print the sheet as JSON')
    .addHelpText(
      'after',
      examples(
        'tally sheets open --person ada@example.com --month 2026-11',
        'tally sheets open --person ada@example.com --from 2026-11-16 --to 2026-11-20',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<{
        person: string
        month?: string
        from?: string
        to?: string
        note?: string
        another?: boolean
        yes?: boolean
      }>()
      const { person, month, from, to, note: purpose } = flags
      if ((from === undefined) !== (to === undefined)) throw new CommandError('Use --from and --to together.', 2)
      if ((month === undefined) === (from === undefined)) {
        throw new CommandError('Use either --month, or --from and --to.', 2)
      }
      const days = month === undefined ? { period: { from: from!, to: to! } } : { month }
      const about = purpose === undefined ? {} : { note: purpose }
      await actOnSheet(command, 'Opened', async ({ sheets }, self) => {
        const others = flags.another || flags.yes ? [] : await sheets.listSheetsOfDays({ person, ...days }, self.viewer)
        if (others.length > 0) {
          note(`${person} already has a sheet for some of these days:`)
          for (const { id, period, status } of others) note(`  ${id}, ${period.from} to ${period.to}, ${status}`)
          if (!isInteractive()) {
            throw new CommandError('Nothing was changed. Add entries to that sheet, or add --another or --yes.')
          }
          await confirm('Open another one?', {})
        }
        return sheets.openSheet({ person, ...days, ...about }, self)
      })
    })
}
