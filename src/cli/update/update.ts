/** The steps of `tally update`. Until the last one, nothing that is in use has changed. */
import { rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabasePlace } from '../../config.ts'
import { PLATFORM, VERSION } from '../../embedded/version.ts'
import { CommandError } from '../failures.ts'
import { findServiceUnit, type ServiceUnit } from '../service-unit.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import type { CommandFlags } from '../with-services.ts'
import { type SharedFiles, unpack } from './archive.ts'
import { backUpDatabase, usedDatabase } from './database-backup.ts'
import { ownExecutable, ownerOf } from './installation.ts'
import type { Archive, Manifest } from './manifest.ts'
import type { ReleaseSource } from './release-source.ts'
import { makeWorkFolder, noSpace, previousOf, replaceExecutable, replaceShared } from './replacement.ts'

/** Long enough for a slow disk; `tally version` takes a fraction of a second. */
const TRIAL_LIMIT_MS = 60_000

interface Update {
  source: ReleaseSource
  manifest: Manifest
  chosen: Archive
  flags: CommandFlags & { allowUnsigned?: boolean; allowDowngrade?: boolean; backup: boolean }
}

export async function update({ source, manifest, chosen, flags }: Update): Promise<void> {
  const executable = ownExecutable()
  requireAllowed(executable, { manifest, chosen, flags })
  if (manifest.signature !== 'valid') note('tally: The signature of the release is not checked.')
  const service = findServiceUnit(executable)
  const database = flags.backup ? usedDatabase(flags, service?.environment ?? {}) : undefined
  const workFolder = makeWorkFolder(executable)
  const removed = removeOnSignals(workFolder)
  try {
    const { next, shared } = await prepare(source, chosen, workFolder)
    const backup = database?.kind === 'file' ? await backUpDatabase(database) : undefined
    replaceExecutable({ executable, next, workFolder })
    report({ executable, chosen, service, database, backup, flags, unreplaced: replaceShared(executable, shared) })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noSpace(dirname(executable)) : error
  } finally {
    removed()
  }
}

function requireAllowed(executable: string, { manifest, chosen, flags }: Omit<Update, 'source'>): void {
  const owner = ownerOf(executable, chosen.version)
  if (owner) throw new CommandError(`${executable} belongs to ${owner.name}. ${owner.instead}`)
  if (process.platform === 'win32') {
    throw new CommandError(
      `Windows does not let a running program replace itself. Stop Tally, and unpack tally-${chosen.version}-${PLATFORM}.zip over it.`,
    )
  }
  if (Bun.semver.order(chosen.version, VERSION) < 0 && !flags.allowDowngrade) {
    throw new CommandError(
      `${chosen.version} is older than the installed ${VERSION}, and can't use a database that this version has upgraded. --allow-downgrade installs it nevertheless.`,
    )
  }
  if (manifest.signature === 'valid' || flags.allowUnsigned) return
  throw new CommandError(
    manifest.signature === 'none'
      ? 'The release is not signed. --allow-unsigned installs it nevertheless, if you trust where it comes from.'
      : 'The signature of the release cannot be checked without a public key. Name the one of whoever makes your releases with --key. --allow-unsigned installs it nevertheless, if you trust where it comes from.',
  )
}

/** Removes the folder when called, and when this process is told to end. */
function removeOnSignals(folder: string): () => void {
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  const handlers = Object.entries(signals).map(([signal, code]) => {
    const handler = () => {
      remove()
      process.exit(code)
    }
    process.once(signal, handler)
    return [signal, handler] as const
  })
  return () => {
    remove()
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

/** Downloads, checks and tries the new executable. */
async function prepare(
  source: ReleaseSource,
  { name, sha256, version }: Archive,
  workFolder: string,
): Promise<{ next: string; shared: SharedFiles }> {
  const archive = join(workFolder, name)
  const progress = new Progress('Downloading')
  const actual = await source
    .download(name, archive, (done, total) => progress.show(done, total))
    .finally(() => progress.end())
  if (actual !== sha256) {
    throw new CommandError(
      `${name} is not what SHA256SUMS says: its checksum differs. Nothing was changed. Try again, or use another source.`,
    )
  }
  const next = join(workFolder, 'tally')
  const shared = await unpack(archive, name.slice(0, -'.tar.gz'.length), next)
  rmSync(archive)
  await tryExecutable(next, version)
  return { next, shared }
}

async function tryExecutable(path: string, version: string): Promise<void> {
  const { code, text } = await trial(path)
  if (code !== 0) throw new CommandError('The new executable does not run on this machine. Nothing was changed.')
  if (text.split(/\s/)[1] !== version) {
    throw new CommandError(
      `The archive of version ${version} has another version: ${text.trim()}. Nothing was changed.`,
    )
  }
}

async function trial(path: string): Promise<{ code: number | undefined; text: string }> {
  try {
    const child = Bun.spawn([path, 'version'], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: TRIAL_LIMIT_MS,
    })
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
    return { code, text }
  } catch {
    // The system knows no program of that kind, or the file system runs none.
    return { code: undefined, text: '' }
  }
}

interface Done {
  executable: string
  chosen: Archive
  service: ServiceUnit | undefined
  database: DatabasePlace | undefined
  backup: string | undefined
  flags: CommandFlags
  /** Files beside the executable that are still those of the old version. */
  unreplaced: string[]
}

function report(done: Done): void {
  const { executable, chosen, backup, flags, unreplaced } = done
  for (const path of unreplaced) note(`tally: ${path} could not be replaced. It is still the one of ${VERSION}.`)
  if (!flags.json) {
    print(whatIsNext(done))
    return
  }
  printJson({
    installed: chosen.version,
    is_updated: true,
    executable,
    previous: { version: VERSION, executable: previousOf(executable) },
    backup: backup ?? null,
  })
}

function whatIsNext({ executable, chosen, service, database, backup }: Done): string {
  const lines = [`Updated ${executable} from ${VERSION} to ${chosen.version}.`]
  if (backup) lines.push(`The database is backed up: ${backup}`)
  if (database?.kind === 'postgresql') {
    lines.push('The database is in PostgreSQL, which is not backed up. Before you restart: pg_dump --format=custom')
  }
  lines.push(
    '',
    service
      ? `Restart the server:\n  sudo systemctl restart ${service.name}`
      : 'If a server is running, restart it: it still runs the old version.',
    '',
    `To go back, replace the executable, and restart the server:\n  mv ${previousOf(executable)} ${executable}`,
  )
  if (backup && database?.kind === 'file') {
    lines.push(
      'If the new version has upgraded the database by then, stop the server, and also restore the backup:',
      `  tally restore ${backup} --data ${resolve(database.dataDir)} --replace`,
    )
  }
  return lines.join('\n')
}
