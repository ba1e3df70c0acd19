import type { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { timestamp } from '../../lib/duration.ts'
import { isS3Address, s3Address } from '../../lib/s3-place.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples, optionOf } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { sizeText } from '../terminal/numbers.ts'
import { minute, print, printJsonList, printTable } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { type Flags, type ListedBackup, listFolder, listStored } from './places.ts'

export function addBackupListCommand(backup: Command): void {
  backup
    .command('list')
    .description('List backups with their size and age')
    .argument(
      '[place]',
      'folder or s3://bucket/prefix/ (default: the folder for backups, and --backup-s3 if it is set)',
    )
    .addOption(optionOf('backupDir'))
    .addOption(optionOf('backupS3'))
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally backup list', 'tally backup list s3://backups/tally/'))
    .action(async (place: string | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags & Flags>()
      const found = await listAt(place, flags)
      const now = Date.now()
      if (flags.json) {
        printJsonList(
          found.map(({ place, name, madeAt, bytes }) => ({ place, name, made_at: timestamp(madeAt), bytes })),
        )
      } else if (found.length === 0) print('No backups.')
      else {
        printTable<ListedBackup>(
          [
            { title: 'NAME', of: ({ name }) => name },
            { title: 'PLACE', of: ({ place }) => place, rank: 1 },
            { title: 'MADE (UTC)', of: ({ madeAt }) => minute(timestamp(madeAt)) },
            { title: 'AGE', of: ({ madeAt }) => ageText(now - madeAt), align: 'right' },
            { title: 'SIZE', of: ({ bytes }) => sizeText(bytes), align: 'right' },
          ],
          found,
          flags,
        )
      }
    })
}

async function listAt(place: string | undefined, flags: Flags): Promise<ListedBackup[]> {
  if (place !== undefined) return isS3Address(place) ? listStored(place, flags) : listFolder(place)
  const { folder, remote } = readConfig(flags).backups
  return [...(await listFolder(folder)), ...(remote ? await listStored(s3Address(remote.place), flags) : [])]
}

const MINUTE_MS = 60_000

function ageText(ageMs: number): string {
  // Made while the clock was ahead.
  if (ageMs < 0) return 'in the future'
  const minutes = Math.floor(ageMs / MINUTE_MS)
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} d`
}
