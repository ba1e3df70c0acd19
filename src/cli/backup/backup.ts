import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { type Config, readBackupKeys, readConfig } from '../../config.ts'
import { requireUsable } from '../../database/database-place.ts'
import { isS3Address, s3Address } from '../../lib/s3-place.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { counted, sizeText } from '../terminal/numbers.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import type { CommandFlags } from '../with-services.ts'
import { bucketAt, type Flags } from './places.ts'

type BackupFlags = CommandFlags & Flags

export function addBackupCommand(program: Command): Command {
  return program
    .command('backup')
    .description('Back up the database to a file or to S3, also while the server runs, and check the copy')
    .argument(
      '[target]',
      'target file, a folder for a file named after the time, or s3://bucket/prefix/ (default: backups in the data folder)',
    )
    .addOption(optionOf('backupRecipients'))
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The file is a complete, consistent copy of the database. \`tally serve --backup-every 24h\` creates backups automatically.
In S3-compatible storage, backups are compressed and encrypted: for the public keys in TALLY_BACKUP_RECIPIENTS, which
\`tally backup keygen\` creates. The credentials are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the storage is AWS_ENDPOINT_URL.
${examples('tally backup', 'tally backup /mnt/backups/tally-2026-11-21.db', 'tally backup /mnt/backups/', 'tally backup s3://backups/tally/')}`,
    )
    .action(async (given: string | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<BackupFlags>()
      const config = readConfig(flags)
      const from = embeddedFile(config.databaseUrl, config.dataDir, 'pg_dump --format=custom')
      if (given !== undefined && isS3Address(given)) await backUpToS3(given, { from, config, flags })
      else await backUpToFile(given, { from, config, flags })
    })
}

interface Backup {
  /** The database file. */
  from: string
  config: Config
  flags: BackupFlags
}

async function backUpToFile(given: string | undefined, { from, config, flags }: Backup): Promise<void> {
  const { nameFor } = await import('../../database/backup/backup.ts')
  const madeAt = Date.now()
  const to = target(given, config.backups.folder, nameFor(from, madeAt))
  const copy = await copyTo(to, { from, madeAt })
  if (flags.json) printJson({ file: to, bytes: copy.bytes, entries: copy.entries, schema_version: copy.version })
  else print(`${to}: ${counted(copy.entries, 'entry', 'entries')}, ${sizeText(copy.bytes)}, checked.`)
}

async function copyTo(to: string, of: { from: string; madeAt: number }) {
  const { backUp } = await import('../../database/backup/backup.ts')
  const progress = new Progress('Copying', process.stderr)
  try {
    return await backUp({ ...of, to, progress: (done, total) => progress.show(done, total) })
  } catch (error) {
    throw asCommandError(error)
  } finally {
    progress.end()
  }
}

const CONFLICT_ADVICE =
  'Use the folder for backups of the server (--backup-dir, TALLY_BACKUP_DIR), or another folder of the bucket.'

/** By way of a copy in the folder for backups, since SQLite cannot write one moment of a database to a stream. */
async function backUpToS3(given: string, { from, config, flags }: Backup): Promise<void> {
  const { recipients } = readBackupKeys(flags)
  if (recipients.length === 0) {
    throw new CommandError(
      'Backups in S3 are encrypted: set TALLY_BACKUP_RECIPIENTS to a public key. `tally backup keygen` creates one.',
    )
  }
  const { bucket, place } = await bucketAt(given, flags)
  if (place.name !== undefined) throw new CommandError(`${given} is not a folder. Use s3://bucket/prefix/.`, 2)
  const [
    { nameFor },
    { SEALED_ENDING },
    { encrypterFor },
    { identityIn },
    { inspect, TimelineConflict, uploadChecked },
  ] = await Promise.all([
    import('../../database/backup/backup.ts'),
    import('../../database/backup/names.ts'),
    import('../../database/backup/remote/encryption.ts'),
    import('../../database/backup/identity.ts'),
    import('../../database/backup/remote/uploads.ts'),
  ])
  const identity = identityIn(from)
  if (!identity) {
    throw new CommandError('The database was not upgraded to this version yet. Start the server once: tally serve')
  }
  const { folder, keep } = config.backups
  const madeAt = Date.now()
  // Before minutes of copying: the keys, the credentials, the bucket, and what this database has uploaded.
  encrypterFor(recipients)
  const uploader = { bucket, place, folder, identity }
  const inspection = await inspect(uploader, { keep, now: madeAt }).catch((error) => {
    throw error instanceof TimelineConflict ? new CommandError(`${error.message} ${CONFLICT_ADVICE}`) : error
  })
  for (const problem of inspection.problems) note(problem)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const scratch = mkdtempSync(join(folder, 'upload-'))
  const progress = new Progress('Uploading', process.stderr)
  try {
    const name = nameFor(from, madeAt)
    const file = join(scratch, name)
    const copy = await copyTo(file, { from, madeAt })
    const onBytes = (done: number, total: number) => progress.show(done, total)
    const sealed = { file, name: name + SEALED_ENDING, recipients, onBytes }
    const uploaded = await uploadChecked(uploader, inspection, sealed)
    progress.end()
    const address = s3Address({ ...place, name: uploaded.name })
    if (flags.json) {
      const { bytes, sha256 } = uploaded
      printJson({ file: address, bytes, sha256, entries: copy.entries, schema_version: copy.version })
    } else {
      print(
        `${address}: ${counted(copy.entries, 'entry', 'entries')}, ${sizeText(uploaded.bytes)}, checked and encrypted.`,
      )
    }
  } finally {
    progress.end()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The file of the embedded database; PostgreSQL has a tool of its own, which `instead` names. */
export function embeddedFile(databaseUrl: string | undefined, dataDir: string, instead: string): string {
  if (databaseUrl) throw new CommandError(`The database is in PostgreSQL. Use its own tool: ${instead}`)
  const file = join(dataDir, 'tally.db')
  if (!existsSync(file)) {
    throw new CommandError(`There is no Tally database in ${dataDir}. Set its folder with --data or TALLY_DATA.`)
  }
  requireUsable(file)
  return file
}

function target(given: string | undefined, folder: string, name: string): string {
  if (given === undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return resolve(folder, name)
  }
  const isFolder = given.endsWith('/') || statSync(given, { throwIfNoEntry: false })?.isDirectory()
  return resolve(isFolder ? join(given, name) : given)
}

/** What keeps a copy from being made is the disk or a slip of the keyboard, and no issue of Tally's. */
function asCommandError(error: unknown): unknown {
  const { name, message } = error as Error
  return name === 'Error' ? new CommandError(message) : error
}
