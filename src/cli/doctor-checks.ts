/** What `tally doctor` looks at: each check answers what it found, and what to do where that is not as it should be. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import type { Services } from '../services.ts'
import { linkBase } from './address.ts'

export interface Finding {
  what: string
  /** An `error` keeps Tally from working, or loses something; a `warning` will one day. */
  level: 'ok' | 'warning' | 'error'
  says: string
  /** What to do; null where all is well. */
  advice: string | null
}

const ok = (what: string, says: string): Finding => ({ what, level: 'ok', says, advice: null })
const warning = (what: string, says: string, advice: string): Finding => ({ what, level: 'warning', says, advice })
const failure = (what: string, says: string, advice: string): Finding => ({ what, level: 'error', says, advice })

/** A day and a half: a daily backup that was late is none that is missing. */
const BACKUP_AGE_LIMIT_MS = 36 * 3_600_000

const ASK_TIMEOUT_MS = 5_000

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`

/** The folder and the files in it: whose they are, who else reads them, whether there is space. */
export async function checkFiles(config: Config, { fix }: { fix: boolean }): Promise<Finding[]> {
  const { dataDir, databaseUrl } = config
  if (databaseUrl) return [ok('database', 'is in PostgreSQL')]
  const file = join(dataDir, 'tally.db')
  if (!existsSync(file)) {
    const advice = 'Name its folder with --data or TALLY_DATA; `tally serve` makes a new one.'
    return [failure('database', `there is none in ${resolve(dataDir)}`, advice)]
  }
  return [
    checkAccess(dataDir, file),
    await checkPrivacy(config, fix),
    await checkSpace(dataDir, file),
    await checkLog(dataDir, file),
  ]
}

/** Files with secrets that others can read, each with what to do. */
export function checkSecrets(exposed: readonly string[]): Finding[] {
  return exposed.map((says) => {
    const [what = '', advice = ''] = says.split(/: (?=chmod )/)
    return warning('secrets', what, advice)
  })
}

function checkAccess(dataDir: string, file: string): Finding {
  try {
    for (const path of [dataDir, file]) accessSync(path, constants.R_OK | constants.W_OK)
    return ok('files', `${resolve(file)} can be read and written`)
  } catch (error) {
    return failure('files', (error as Error).message, 'Run this as the user of the server, who must own the folder.')
  }
}

/** @param fix takes the rights of others away first */
async function checkPrivacy({ dataDir, backups }: Config, fix: boolean): Promise<Finding> {
  if (process.platform === 'win32') return ok('privacy', 'is decided by the folder’s access list')
  const { findExposed, protect } = await import('../database/permissions.ts')
  const folders = { dataDir: resolve(dataDir), backups: resolve(backups.folder) }
  const changed = fix ? protect(folders).changed : []
  const exposed = findExposed(folders)
  const repaired = changed.length > 0 ? `; changed ${changed.join(', ')}` : ''
  if (exposed.length === 0) return ok('privacy', `other users of this machine cannot read the database${repaired}`)
  const advice = fix
    ? `Not changed, as another user owns it or it holds other files as well: chmod go= ${exposed.join(' ')}`
    : 'It holds what people cost. Run `tally doctor --fix` as the owner, which makes it private.'
  return warning('privacy', `other users of this machine can read ${exposed.join(', ')}${repaired}`, advice)
}

async function checkSpace(dataDir: string, file: string): Promise<Finding> {
  const { diskSpaceOf, spaceLevelOf } = await import('../database/disk-space.ts')
  const space = diskSpaceOf(dataDir)
  const size = statSync(file).size
  const share = Math.floor((space.freeBytes * 100) / space.totalBytes)
  const says = `${megabytes(space.freeBytes)} free (${share} %), the database has ${megabytes(size)}`
  const advice = 'Free some, or move the folder to a larger disk. A full disk refuses reports until there is space.'
  const level = spaceLevelOf(space)
  if (level === 'critical') return failure('disk', says, advice)
  // An upgrade and a backup need the size of the database once more.
  if (level === 'low' || space.freeBytes < size) return warning('disk', says, advice)
  return ok('disk', says)
}

async function checkLog(dataDir: string, file: string): Promise<Finding> {
  const { diskSpaceOf, logBytesAllowed } = await import('../database/disk-space.ts')
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const says = `the write-ahead log has ${megabytes(bytes)}`
  if (bytes <= logBytesAllowed(diskSpaceOf(dataDir).freeBytes)) return ok('log', says)
  const advice = 'Something has been reading the database for long: look for tally verify, tally sql or sqlite3.'
  return warning('log', says, advice)
}

/** Whether the clock can be believed: entries are dated by agents, but bills, links and backups by it. */
export async function checkClock(now: number): Promise<Finding> {
  const synchronized = await systemAnswer(['timedatectl', 'show', '--property=NTPSynchronized', '--value'])
  const says = new Date(now).toISOString()
  if (synchronized === 'no') {
    return warning('clock', `${says}, not synchronized`, 'Switch time synchronization on: timedatectl set-ntp true')
  }
  return ok('clock', synchronized === 'yes' ? `${says}, synchronized` : says)
}

/** What a program of the system says; undefined where it is not here. */
async function systemAnswer(command: string[]): Promise<string | undefined> {
  if (!Bun.which(command[0]!)) return undefined
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore', timeout: ASK_TIMEOUT_MS })
  const text = (await child.stdout.text()).trim()
  return (await child.exited) === 0 ? text : undefined
}

/** Whether a server answers where it should, and whether passwords travel in the clear. */
export async function checkServer(config: Config): Promise<Finding[]> {
  const findings = [await askReady(linkBase({ ...config, publicUrl: undefined }), 'server')]
  if (config.publicUrl) findings.push(await askReady(config.publicUrl, 'public address'))
  const isOpen = !/^(127\.|localhost$|::1$)/.test(config.host)
  if (isOpen && !config.publicUrl?.startsWith('https:')) {
    const advice = 'Let a proxy with TLS stand in front, and name its address with TALLY_PUBLIC_URL=https://…'
    findings.push(warning('encryption', `the server listens on ${config.host} without TLS`, advice))
  }
  if (config.publicUrl?.startsWith('https:') && config.trustedProxies.length === 0) {
    const advice = 'Name the proxy with TALLY_TRUSTED_PROXIES, so that failures at sign-in count for who made them.'
    findings.push(warning('proxy', 'all people seem to come from the address of the proxy', advice))
  }
  return findings
}

async function askReady(url: string, what: string): Promise<Finding> {
  try {
    const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    const body = (await answer.json().catch(() => null)) as { status?: unknown; detail?: string } | null
    if (answer.ok && body?.status === 'ready') return ok(what, `${url} is ready`)
    const says = body?.detail ?? `${url}/ready answered ${answer.status}, which is no Tally`
    return failure(what, says, 'Look into the log of the server.')
  } catch (error) {
    const advice = 'Start it with `tally serve`, or see that address, port, proxy and firewall are right.'
    return failure(what, `${url} does not answer (${(error as Error).message})`, advice)
  }
}

export async function checkMail({ mail }: Config, { bills }: Services): Promise<Finding> {
  if (!mail) return ok('mail', 'no mail server is named: bills are downloaded, not mailed')
  const wrong = await bills.deliveries.checkMail()
  if (wrong)
    return failure('mail', `${mail.host}: ${wrong}`, 'Mend TALLY_SMTP_URL, or ask whoever runs the mail server.')
  const { queued, failed } = await bills.deliveries.count()
  if (failed === 0) return ok('mail', `${mail.host} takes mails; ${queued} wait`)
  const advice = 'See them with `tally bills list`, mend the addresses, and send them again with `tally bills deliver`.'
  return warning('mail', `${failed} mails of bills were given up`, advice)
}

export async function checkPeople({ people }: Services): Promise<Finding> {
  if (await people.isSetUp()) return ok('people', 'there is an admin')
  return warning(
    'people',
    'nobody can administer Tally',
    'Open the link that `tally serve` prints, or use `tally users add`.',
  )
}

export async function checkBackups({ backups, dataDir, databaseUrl }: Config, now: number): Promise<Finding> {
  if (databaseUrl) return ok('backups', 'of PostgreSQL are made by its own tools')
  const advice = 'Let the server make them: TALLY_BACKUP_EVERY=24h, with TALLY_BACKUP_DIR on another disk.'
  if (!existsSync(backups.folder)) return warning('backups', 'there are none', advice)
  const { backupsIn } = await import('../database/scheduled-backups.ts')
  const [newest] = backupsIn(backups.folder)
  if (!newest) return warning('backups', `there are none in ${resolve(backups.folder)}`, advice)
  const says = `the newest is of ${new Date(newest.madeAt).toISOString()}`
  if (now - newest.madeAt > BACKUP_AGE_LIMIT_MS) return warning('backups', says, advice)
  if (statSync(backups.folder).dev === statSync(dirname(join(dataDir, 'tally.db'))).dev) {
    return warning('backups', `${says}, on the disk of the database`, 'Name a folder on another one: TALLY_BACKUP_DIR')
  }
  return ok('backups', says)
}
