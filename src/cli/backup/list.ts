import type { Command } from 'commander'
import { type Config, readConfig } from '../../config.ts'
import { timestamp } from '../../lib/duration.ts'
import { isS3Address, s3Address } from '../../lib/s3-place.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples, optionOf } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { sizeText } from '../terminal/numbers.ts'
import { minute, note, print, printJsonList, printTable } from '../terminal/print.ts'
import type { CommandFlags } from '../with-services.ts'
import { type Flags, type ListedBackup, listFolder, listStored, missingText, ownIdentity } from './places.ts'

export function addBackupListCommand(backup: Command): void {
  backup
    .command('list')
    .description('List backups with their size, age and database')
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
      const config = readConfig(flags)
      const [found, identity, { originOf, originText }] = await Promise.all([
        listAt(place, config, flags),
        ownIdentity(config),
        import('../../database/backup/contents.ts'),
      ])
      const now = Date.now()
      if (flags.json) {
        printJsonList(
          found.map(({ place, name, madeAt, bytes, content }) => ({
            ...{ place, name, made_at: timestamp(madeAt), bytes },
            database: content.kind === 'backup' ? content.database : null,
            timeline: content.kind === 'backup' ? content.timeline : null,
            origin: originOf(content, identity).replace(' ', '_'),
          })),
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
            {
              title: 'ORIGIN',
              of: ({ content }) =>
                content.kind === 'unusable' ? `unusable: ${content.reason}` : originText(originOf(content, identity)),
            },
            { title: 'DATABASE', of: ({ content }) => (content.kind === 'backup' ? content.database : '–'), rank: 2 },
          ],
          found,
          flags,
        )
      }
    })
}

async function listAt(place: string | undefined, config: Config, flags: Flags): Promise<ListedBackup[]> {
  const { folder, remote } = config.backups
  const storage = place === undefined ? remote && s3Address(remote.place) : isS3Address(place) ? place : undefined
  const files = place === undefined ? await listFolder(folder) : storage ? [] : await listFolder(place)
  if (!storage) return files
  const { found, missing } = await listStored(storage, config, flags)
  for (const { place, name } of missing) note(missingText(place + name))
  return [...files, ...found]
}

const MINUTE_MS = 60_000

function ageText(ageMs: number): string {
  // Made while the clock was ahead.
  if (ageMs < 0) return 'in the future'
  const minutes = Math.floor(ageMs / MINUTE_MS)
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / (24 * 60))} d`
}
