import type { Command } from 'commander'
import { Problem } from '../../errors.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { ENTRY_COLUMNS, noteMismatches, SHEET } from './sheet.ts'

export function addSheetsImportCommand(sheets: Command): void {
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
