/** The backup before an update: of the database that the server of this installation uses. */
import { chownSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type DatabasePlace, readDatabasePlace } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { Progress } from '../terminal/progress.ts'
import type { DatabaseFlags } from '../with-services.ts'

type EmbeddedDatabase = DatabasePlace & { kind: 'file' }

/**
 * Where the server of this installation has its database; undefined if there is none.
 *
 * @param service the environment of the systemd unit that runs the executable
 */
export function usedDatabase(flags: DatabaseFlags, service: Record<string, string>): DatabasePlace | undefined {
  const { data, databaseUrl, databaseUrlFile } = flags
  const place = readDatabasePlace({ data, databaseUrl, databaseUrlFile }, service)
  return place.kind === 'postgresql' || found(fileIn(place)) ? place : undefined
}

const fileIn = ({ dataDir }: EmbeddedDatabase) => join(dataDir, 'tally.db')

function found(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new CommandError(
      `${file} can't be backed up: permission denied. Run this as the owner of the executable and the database, such as with sudo, or without a backup: --no-backup`,
    )
  }
}

/** Returns the path of the backup. */
export async function backUpDatabase(database: EmbeddedDatabase): Promise<string> {
  const { backUp, nameFor } = await import('../../database/backup/backup.ts')
  const backups = resolve(database.backups)
  const file = fileIn(database)
  const progress = new Progress('Backing up the database')
  try {
    const made = mkdirSync(backups, { recursive: true, mode: 0o700 })
    const madeAt = Date.now()
    const to = join(backups, nameFor(file, madeAt))
    await backUp({ from: file, to, madeAt, progress: (done, total) => progress.show(done, total) })
    for (const path of [to, ...(made === undefined ? [] : [backups])]) giveToOwnerOf(file, path)
    return to
  } catch (error) {
    const { message } = error as Error
    throw new CommandError(
      `The database could not be backed up: ${message.replace(/\.$/, '')}. Nothing was changed. --no-backup updates without a backup.`,
    )
  } finally {
    progress.end()
  }
}

/** What root makes must not keep the server, which runs as another user, from making backups there. */
function giveToOwnerOf(file: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(file)
  chownSync(path, uid, gid)
}
