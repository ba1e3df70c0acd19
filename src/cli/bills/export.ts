import { existsSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { DocumentFormat } from '../../features/bills/service.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printPieces } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'

const FORMATS: DocumentFormat[] = ['pdf', 'html', 'csv', 'entries-csv', 'journal', 'json', 'void-notice']

interface ExportFlags extends DatabaseFlags {
  format: DocumentFormat
  output?: string
  force?: boolean
}

export function addBillsExportCommand(bills: Command): void {
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
