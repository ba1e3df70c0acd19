/** What `tally doctor` looks at: each check answers what it found, and what to do where that is not as it should be. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import type { Services } from '../services.ts'
import { linkBase } from './address.ts'

export interface Finding {
  what: string
  /** A `fault` keeps Tally from working, or loses something; a `warning` will one day. */
  level: 'ok' | 'warning' | 'fault'
  says: string
  /** What to do; null where all is well. */
  advice: string | null
}

const ok = (what: string, says: string): Finding => ({ what, level: 'ok', says, advice: null })
const warning = (what: string, says: string, advice: string): Finding => ({ what, level: 'warning', says, advice })
const fault = (what: string, says: string, advice: string): Finding => ({ what, level: 'fault', says, advice })

/** A month of a busy team fits into a gigabyte; an upgrade and a backup need the size of the database once more. */
const FREE_BYTES_WANTED = 1e9
const FREE_BYTES_NEEDED = 100e6

/** A log that stays beyond it has a reader that never ends. */
const LOG_BYTES_LIMIT = 2e9

/** A day and a half: a daily backup that was late is none that is missing. */
const BACKUP_AGE_LIMIT_MS = 36 * 3_600_000

const ASK_TIMEOUT_MS = 5_000

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`

/** The folder and the files in it: whose they are, who else reads them, whether there is space. */
export function checkFiles({ dataDir, databaseUrl }: Config): Finding[] {
  if (databaseUrl) return [ok('database', 'is in PostgreSQL')]
  const file = join(dataDir, 'tally.db')
  if (!existsSync(file)) {
    const advice = 'Name its folder with --data or TALLY_DATA; `tally serve` makes a new one.'
    return [fault('database', `there is none in ${resolve(dataDir)}`, advice)]
  }
  return [checkAccess(dataDir, file), checkPrivacy(dataDir, file), checkSpace(dataDir, file), checkLog(file)]
}

function checkAccess(dataDir: string, file: string): Finding {
  try {
    for (const path of [dataDir, file]) accessSync(path, constants.R_OK | constants.W_OK)
    return ok('files', `${resolve(file)} can be read and written`)
  } catch (error) {
    return fault('files', (error as Error).message, 'Run this as the user of the server, who must own the folder.')
  }
}

function checkPrivacy(dataDir: string, file: string): Finding {
  if (process.platform === 'win32') return ok('privacy', 'is decided by the folder’s access list')
  const readable = [dataDir, file].every((path) => (statSync(path).mode & 0o007) !== 0)
  if (!readable) return ok('privacy', 'other users of this machine cannot read the database')
  const advice = `It holds what people cost: chmod 700 ${resolve(dataDir)}`
  return warning('privacy', 'every user of this machine can read the database', advice)
}

function checkSpace(dataDir: string, file: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const size = statSync(file).size
  const says = `${megabytes(free)} free, the database has ${megabytes(size)}`
  const advice = 'Free some, or move the folder to a larger disk. A full disk refuses reports until there is space.'
  if (free < FREE_BYTES_NEEDED) return fault('disk', says, advice)
  if (free < Math.max(FREE_BYTES_WANTED, size)) return warning('disk', says, advice)
  return ok('disk', says)
}

function checkLog(file: string): Finding {
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const says = `the write-ahead log has ${megabytes(bytes)}`
  if (bytes < LOG_BYTES_LIMIT) return ok('log', says)
  return warning('log', says, 'Something reads the database without an end. Restart the server, which empties it.')
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
    return fault(what, says, 'Look into the log of the server.')
  } catch (error) {
    const advice = 'Start it with `tally serve`, or see that address, port, proxy and firewall are right.'
    return fault(what, `${url} does not answer (${(error as Error).message})`, advice)
  }
}

export async function checkMail({ mail }: Config, { bills }: Services): Promise<Finding> {
  if (!mail) return ok('mail', 'no mail server is named: bills are downloaded, not mailed')
  const wrong = await bills.deliveries.checkMail()
  if (wrong) return fault('mail', `${mail.host}: ${wrong}`, 'Mend TALLY_SMTP_URL, or ask whoever runs the mail server.')
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
