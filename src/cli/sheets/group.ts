import type { Command } from 'commander'
import { Problem } from '../../errors.ts'
import type { TokenEntry } from '../../features/entries/schema.ts'
import type { TokenSheet } from '../../features/sheets/schema.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { addEntryFlags, type EntryFlags, readEntry } from '../entries/report.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { confirm, isInteractive } from '../terminal/confirm.ts'
import { type Column, minute, note, print, printJson, printTable } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'
import { collect } from '../work-text.ts'

interface Flags extends DatabaseFlags {
  json?: boolean
}

const service = () => import('../../features/sheets/service.ts')

const SHEET: Column<TokenSheet>[] = [
  { title: 'FROM', of: ({ period }) => period.from },
  { title: 'TO', of: ({ period }) => period.to },
  { title: 'PERSON', of: ({ agent_manager }) => agent_manager.name },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ENTRIES', of: ({ entries }) => entries.toLocaleString('en'), align: 'right' },
  { title: 'COST (USD)', of: ({ cost, unpriced_entries }) => costText(cost, unpriced_entries), align: 'right' },
  { title: 'PROJECTS', of: ({ projects, has_unplaced }) => placesText(projects, has_unplaced) },
  { title: 'ID', of: ({ id }) => id },
]

/** Money is JSON's exact number, not one to calculate with; its text is that of the JSON. */
export function costText(cost: number, unpriced: number): string {
  return `${JSON.stringify(cost)}${unpriced > 0 ? ` + ${unpriced} unpriced` : ''}`
}

function placesText(projects: TokenSheet['projects'], hasUnplaced: boolean): string {
  return [...projects.map(({ key }) => key), ...(hasUnplaced ? ['(none)'] : [])].join(', ') || '–'
}

export function printSheets(sheets: TokenSheet[]): void {
  printTable(SHEET, sheets)
}

function tellSheet(what: string, sheet: TokenSheet, { json }: Flags): void {
  if (json) {
    printJson(sheet)
    return
  }
  print(`${what} ${sheet.id} (${sheet.agent_manager.name}, ${sheet.period.from} to ${sheet.period.to}).`)
  print(`  status   ${sheet.status}${sheet.reason === null ? '' : `: ${sheet.reason}`}`)
  print(`  entries  ${sheet.entries}, ${costText(sheet.cost, sheet.unpriced_entries)} USD`)
  print(`  on       ${placesText(sheet.projects, sheet.has_unplaced)}`)
}

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
  addReadingCommands(sheets)
  addFillingCommands(sheets)
  addMovingCommands(sheets)
}

function addReadingCommands(sheets: Command): void {
  sheets
    .command('list')
    .description('List token sheets, newest first')
    .option('--status <status>', 'open, submitted, approved, returned', collect)
    .option('--person <person>', 'id or e-mail address; repeatable or comma-separated', collect)
    .option('--starting-at <when>', 'periods that begin at or after this date or timestamp')
    .option('--ending-at <when>', 'periods that begin before it')
    .option('--limit <number>', 'sheets per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .option('--json', 'print JSON, as returned by GET /api/v1/token-sheets')
    .addHelpText(
      'after',
      examples('tally sheets list --status submitted', 'tally sheets list --person ada@example.com --json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        Flags & {
          status?: string[]
          person?: string[]
          startingAt?: string
          endingAt?: string
          limit?: string
          page?: string
        }
      >()
      const { readSheetList } = await service()
      const query = readSheetList({
        status: flags.status,
        agent_manager: flags.person,
        starting_at: flags.startingAt,
        ending_at: flags.endingAt,
        limit: flags.limit,
        page: flags.page,
      })
      const answer = await withServices(flags, (all, { viewer }) => all.sheets.listSheets(viewer, query))
      if (flags.json) return printJson(answer)
      printSheets(answer.data)
      if (answer.has_more) note(`More sheets: add --page ${answer.next_page}`)
    })

  sheets
    .command('show')
    .description('Show a sheet with its entries and their overlaps with reported entries')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally sheets show sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { sheet, entries, overlaps } = await withServices(flags, async (all, { viewer }) => {
        const sheet = await all.sheets.getSheet(id, viewer)
        const entries: TokenEntry[] = []
        for await (const entry of all.entries.listing.exportEntries(viewer, { sheets: [id] })) entries.push(entry)
        return { sheet, entries, overlaps: (await all.sheets.listOverlaps(id, viewer)).data }
      })
      if (flags.json) return printJson({ ...sheet, data: entries, overlaps })
      tellSheet('Sheet', sheet, {})
      if (entries.length > 0) print('')
      if (entries.length > 0) printTable(ENTRY, entries)
      if (overlaps.length > 0) tellOverlaps(overlaps)
    })

  sheets
    .command('template')
    .description('Print the CSV header of a file to fill in and import')
    .addHelpText('after', examples('tally sheets template > november.csv'))
    .action(async () => {
      const { TEMPLATE } = await service()
      process.stdout.write(TEMPLATE)
    })
}

const ENTRY: Column<TokenEntry>[] = [
  { title: 'STARTED (UTC)', of: ({ started_at }) => minute(started_at) },
  { title: 'HARNESS', of: ({ agent_harness }) => agent_harness },
  { title: 'AGENT', of: ({ agent_name }) => agent_name },
  { title: 'MODEL', of: ({ model }) => model },
  { title: 'TOKENS', of: ({ tokens }) => tokens.total.toLocaleString('en'), align: 'right' },
  { title: 'COST (USD)', of: ({ cost }) => (cost === null ? 'unpriced' : JSON.stringify(cost)), align: 'right' },
  { title: 'PLACE', of: ({ project, ticket }) => [project?.key, ticket?.key].filter(Boolean).join(' ') || '–' },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ID', of: ({ id }) => id },
]

type Overlaps = { entry: Span; reported: Span }[]
interface Span {
  id: string
  agent_harness: string
  started_at: string
  ended_at: string
}

function tellOverlaps(overlaps: Overlaps): void {
  note(`\nThese entries overlap with reported entries of the same person and harness:`)
  for (const { entry, reported } of overlaps) {
    note(`  ${spanText(entry)} and ${spanText(reported)}, both ${entry.agent_harness}`)
  }
}

function spanText({ id, started_at, ended_at }: Span): string {
  return `${id} (${minute(started_at)} to ${minute(ended_at)})`
}

function addFillingCommands(sheets: Command): void {
  sheets
    .command('open')
    .description('Open a sheet for a person and a period')
    .requiredOption('--person <person>', 'owner of the sheet: id or e-mail address')
    .option('--month <month>', 'a whole month, such as 2026-11')
    .option('--from <day>', 'first day, in the time zone of the organization')
    .option('--to <day>', 'last day, inclusive')
    .option('--note <text>', 'what the sheet is for')
    .option('--json', 'print the sheet as JSON')
    .addHelpText(
      'after',
      examples(
        'tally sheets open --person ada@example.com --month 2026-11',
        'tally sheets open --person ada@example.com --from 2026-11-16 --to 2026-11-20',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        Flags & { person: string; month?: string; from?: string; to?: string; note?: string }
      >()
      const { person, month, from, to, note: said } = flags
      if ((from === undefined) !== (to === undefined)) throw new CommandError('Use --from and --to together.', 2)
      if ((month === undefined) === (from === undefined)) {
        throw new CommandError('Use either --month, or --from and --to.', 2)
      }
      const days = month === undefined ? { period: { from: from!, to: to! } } : { month }
      const about = said === undefined ? {} : { note: said }
      const sheet = await withServices(flags, (all, self) => all.sheets.openSheet({ person, ...days, ...about }, self))
      tellSheet('Opened', sheet, flags)
    })

  sheets
    .command('import')
    .description('Add the rows of a CSV file to a sheet; if any row is invalid, none are added')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .argument('<file>', 'CSV file; - for standard input')
    .option('--json', 'print the added entries as JSON')
    .addHelpText('after', examples('tally sheets import sht_… november.csv'))
    .action(async (id: string, file: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const text = await (file === '-' ? Bun.stdin : Bun.file(file)).text().catch((error: Error) => {
        throw new CommandError(`${file === '-' ? 'Standard input' : file} cannot be read: ${error.message}.`)
      })
      const imported = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.importEntries(id, text, self).catch(tellLines)
      })
      if (flags.json) return printJson(imported)
      printTable(ENTRY, imported.data)
      print(`Added ${imported.added.toLocaleString('en')} ${imported.added === 1 ? 'entry' : 'entries'}.`)
    })

  addEntryFlags(
    sheets
      .command('add')
      .description('Add one entry to a sheet, from flags, a JSON file or standard input')
      .argument('<sheet>', 'id of the sheet (sht_…)'),
  )
    .option('--json', 'print the entry as JSON')
    .addHelpText(
      'after',
      examples(
        'tally sheets add sht_… --harness codex --agent reviewer --model gpt-5-codex --started-at 2026-11-20T17:53:04Z --ended-at 2026-11-20T18:20:41Z --input 6153 --output 1421 --project acme-web',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & EntryFlags>()
      const { text } = await readEntry(flags)
      const { requireDraft } = await service()
      const draft = requireDraft(parseExactJson(text))
      const entry = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.addEntry(id, draft, self)
      })
      if (flags.json) return printJson(entry)
      printTable(ENTRY, [entry])
    })

  sheets
    .command('change')
    .description('Change a draft entry; omitted fields keep their values, null clears a field')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .argument('<entry>', 'id of the entry (ent_…)')
    .requiredOption('--set <json>', 'fields to change, such as {"ticket":"ACME-43","summary":null}')
    .option('--json', 'print the entry as JSON')
    .addHelpText('after', examples(`tally sheets change sht_… ent_… --set '{"tokens":{"input":522,"output":300}}'`))
    .action(async (id: string, entryId: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { set: string }>()
      const { requireDraftChange } = await service()
      const change = requireDraftChange(parsed(flags.set))
      const entry = await withServices(flags, async (all, self) => {
        await all.prices.loadDefaultPrices()
        return all.sheets.changeEntry(id, entryId, change, self)
      })
      if (flags.json) return printJson(entry)
      printTable(ENTRY, [entry])
    })

  sheets
    .command('remove-entry')
    .description('Permanently remove a draft entry')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .argument('<entry>', 'id of the entry (ent_…)')
    .option('--yes', 'skip the confirmation')
    .addHelpText('after', examples('tally sheets remove-entry sht_… ent_…'))
    .action(async (id: string, entryId: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { yes?: boolean }>()
      await confirm(`Permanently remove ${entryId}?`, { yes: flags.yes ?? false })
      await withServices(flags, (all, self) => all.sheets.removeEntry(id, entryId, self))
      print(`Removed ${entryId}.`)
    })

  sheets
    .command('remove')
    .description('Remove an open or returned sheet with its draft entries')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .option('--yes', 'skip the confirmation')
    .addHelpText('after', examples('tally sheets remove sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { yes?: boolean }>()
      await withServices(flags, async (all, self) => {
        const { entries } = await all.sheets.getSheet(id, self.viewer)
        if (entries > 0) await confirm(`Remove ${id} and its ${entries} entries?`, { yes: flags.yes ?? false })
        await all.sheets.removeSheet(id, self)
      })
      print(`Removed ${id}.`)
    })
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new CommandError(`--set is not valid JSON: ${(error as Error).message}.`, 2)
  }
}

/** Rethrows the issues of a CSV file, one per line, with line numbers and columns. */
function tellLines(problem: unknown): never {
  const issues = problem instanceof Problem ? (problem.more.issues ?? []) : []
  if (issues.length === 0 || !issues.every(({ pointer }) => pointer.startsWith('/lines'))) throw problem
  const lines = issues.map(({ pointer, message }) => {
    const [, line, ...column] = pointer.slice(1).split('/')
    return `${[...(line ? [`line ${line}`] : ['The file']), ...(column.length > 0 ? [column.join('/')] : [])].join(', ')} ${message}`
  })
  throw new CommandError([...lines, 'Nothing was added.'].join('\n'))
}

function addMovingCommands(sheets: Command): void {
  sheets
    .command('submit')
    .description('Submit a sheet for approval; overlaps with reported entries are shown first')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .option('--confirm-overlaps', 'submit it even if entries overlap with reported ones')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets submit sht_…', 'tally sheets submit sht_… --confirm-overlaps'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { confirmOverlaps?: boolean }>()
      const sheet = await withServices(flags, async (all, self) => {
        let { confirmOverlaps = false } = flags
        const { data } = await all.sheets.listOverlaps(id, self.viewer)
        if (data.length > 0 && !confirmOverlaps) {
          tellOverlaps(data)
          if (!isInteractive()) {
            throw new CommandError(
              'Entries overlap, so nothing was changed. Remove those that are counted twice, or add --confirm-overlaps.',
            )
          }
          await confirm('Submit the sheet anyway?', { yes: false })
          confirmOverlaps = true
        }
        return all.sheets.submitSheet(id, self, { confirmOverlaps })
      })
      tellSheet('Submitted', sheet, flags)
    })

  sheets
    .command('approve')
    .description('Approve a submitted sheet with all its entries')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets approve sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const sheet = await withServices(flags, (all, self) => all.sheets.approveSheet(id, self))
      tellSheet('Approved', sheet, flags)
    })

  sheets
    .command('return')
    .description('Return a submitted sheet for correction')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .requiredOption('--reason <text>', 'reason, shown to the owner of the sheet')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets return sht_… --reason "The session of the 12th was reported as well"'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { reason: string }>()
      const sheet = await withServices(flags, (all, self) => all.sheets.returnSheet(id, flags.reason, self))
      tellSheet('Returned', sheet, flags)
    })

  sheets
    .command('withdraw-approval')
    .description('Withdraw the approval of a sheet, which becomes submitted again')
    .argument('<sheet>', 'id of the sheet (sht_…)')
    .option('--json', 'print the sheet as JSON')
    .addHelpText('after', examples('tally sheets withdraw-approval sht_…'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const sheet = await withServices(flags, (all, self) => all.sheets.withdrawApproval(id, self))
      tellSheet('Withdrew the approval of', sheet, flags)
    })
}
