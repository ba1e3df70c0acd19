import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, Option } from 'commander'
import type { PersonalDataFormat } from '../../features/personal-data/service.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { print, printPieces } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'
import { USER } from './user.ts'

const FORMATS: PersonalDataFormat[] = ['json', 'csv']

interface ExportFlags extends DatabaseFlags {
  format: PersonalDataFormat
  output?: string
  force?: boolean
}

export function addUsersExportCommand(users: Command): void {
  users
    .command('export')
    .description('Write everything that names a person or that they wrote to a file, without secrets')
    .argument('<user>', USER)
    .addOption(
      new Option('--format <format>', 'json, or csv: a ZIP archive with a CSV file for each kind of object')
        .choices(FORMATS)
        .default('json'),
    )
    .option('-o, --output <file>', 'output file, or - for standard output (default: named after the person’s id)')
    .option('--force', 'overwrite an existing file')
    .addHelpText(
      'after',
      examples('tally users export ada@example.com', 'tally users export ada@example.com --format csv -o ada.zip'),
    )
    .action(async (who: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<ExportFlags>()
      await withServices(flags, async ({ people, personalData }, { by }) => {
        const { uid } = await people.getUser(who)
        const path = flags.output ?? `${uid}.${flags.format === 'json' ? 'json' : 'zip'}`
        if (path !== '-' && !flags.force && existsSync(path)) {
          throw new CommandError(`${path} already exists. Choose another file with -o, or add --force to overwrite it.`)
        }
        const pieces = await personalData.exportPerson(uid, flags.format, by)
        if (path === '-') return printPieces(pieces)
        await writePrivately(path, pieces)
        print(`Wrote ${path}. It contains personal data: only you can read it.`)
      })
    })
}

/** A new file that nobody else can read; an incomplete one is removed. */
async function writePrivately(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  rmSync(path, { force: true })
  try {
    await pipeline(Readable.from(pieces), createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}
