/** The checks of `tally doctor`. Each returns its findings, with advice if something is wrong. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import type { Services } from '../services.ts'
import { serverUrl } from './address.ts'
import { sizeText } from './terminal/numbers.ts'

export interface Finding {
  what: string
  /** An `error` keeps Tally from working or loses data; a `warning` may do so later. */
  level: 'ok' | 'warning' | 'error'
  message: string
  /** What to do; null if `level` is `ok`. */
  advice: string | null
}

export const ok = (what: string, message: string): Finding => ({ what, level: 'ok', message, advice: null })
export const warning = (what: string, message: string, advice: string): Finding => ({
  what,
  level: 'warning',
  message,
  advice,
})
export const failure = (what: string, message: string, advice: string): Finding => ({
  what,
  level: 'error',
  message,
  advice,
})

const ASK_TIMEOUT_MS = 5_000

/** Yesterday, today and a day that somebody has corrected. */
const DAYS_IN_PROGRESS = 3

/** The folder and the files in it: whose they are, who else reads them, whether there is space. */
export async function checkFiles(config: Config, { fix }: { fix: boolean }): Promise<Finding[]> {
  const { dataDir, databaseUrl } = config
  if (databaseUrl) return [ok('database', 'stored in PostgreSQL')]
  const file = join(dataDir, 'tally.db')
  if (!existsSync(file)) {
    const advice = 'Set its folder with --data or TALLY_DATA, or create a new one with `tally serve`.'
    return [failure('database', `no database in ${resolve(dataDir)}`, advice)]
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
  return exposed.map((message) => {
    const [what = '', advice = ''] = message.split(/\. To fix it: (?=chmod )/)
    return warning('secrets', what, advice)
  })
}

function checkAccess(dataDir: string, file: string): Finding {
  try {
    for (const path of [dataDir, file]) accessSync(path, constants.R_OK | constants.W_OK)
    return ok('files', `${resolve(file)} is readable and writable`)
  } catch (error) {
    return failure(
      'files',
      (error as Error).message,
      'Run this command as the user that runs the server. It must own the folder.',
    )
  }
}

/** @param fix takes the rights of others away first */
async function checkPrivacy({ dataDir, backups }: Config, fix: boolean): Promise<Finding> {
  if (process.platform === 'win32') return ok('privacy', 'controlled by the access list of the folder')
  const { findExposed, protect } = await import('../database/permissions.ts')
  const folders = { dataDir: resolve(dataDir), backups: resolve(backups.folder) }
  const changed = fix ? protect(folders).changed : []
  const exposed = findExposed(folders)
  const repaired = changed.length > 0 ? `; fixed ${changed.join(', ')}` : ''
  if (exposed.length === 0) return ok('privacy', `other users of this machine cannot read the database${repaired}`)
  const advice = fix
    ? `Not fixed, because another user owns it or it contains other files. If that is intended, run: chmod go= ${exposed.join(' ')}`
    : 'The database contains confidential costs. Run `tally doctor --fix` as the owner to make it private.'
  return warning('privacy', `other users of this machine can read ${exposed.join(', ')}${repaired}`, advice)
}

async function checkSpace(dataDir: string, file: string): Promise<Finding> {
  const { diskSpaceOf, spaceLevelOf } = await import('../database/disk-space.ts')
  const space = diskSpaceOf(dataDir)
  const size = statSync(file).size
  const share = Math.floor((space.freeBytes * 100) / space.totalBytes)
  const message = `${sizeText(space.freeBytes)} free (${share}%), database size ${sizeText(size)}`
  const advice = 'Free some space, or move the folder to a larger disk. Reports are refused while the disk is full.'
  const level = spaceLevelOf(space)
  if (level === 'critical') return failure('disk', message, advice)
  // An upgrade and a backup need the size of the database once more.
  if (level === 'low' || space.freeBytes < size) return warning('disk', message, advice)
  return ok('disk', message)
}

async function checkLog(dataDir: string, file: string): Promise<Finding> {
  const { diskSpaceOf, logBytesAllowed } = await import('../database/disk-space.ts')
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const message = `write-ahead log size ${sizeText(bytes)}`
  if (bytes <= logBytesAllowed(diskSpaceOf(dataDir).freeBytes)) return ok('log', message)
  const advice =
    'A long-running reader keeps the log from being truncated. Look for a tally verify, tally sql or sqlite3 process.'
  return warning('log', message, advice)
}

/** Whether the clock is synchronized: agents date entries, but the server's clock dates bills, links and backups. */
export async function checkClock(now: number): Promise<Finding> {
  const synchronized = await systemAnswer(['timedatectl', 'show', '--property=NTPSynchronized', '--value'])
  const message = new Date(now).toISOString()
  if (synchronized === 'no') {
    return warning('clock', `${message}, not synchronized`, 'Enable time synchronization: timedatectl set-ntp true')
  }
  return ok('clock', synchronized === 'yes' ? `${message}, synchronized` : message)
}

/** Output of a system program; undefined if it is not installed or fails. */
async function systemAnswer(command: string[]): Promise<string | undefined> {
  if (!Bun.which(command[0]!)) return undefined
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore', timeout: ASK_TIMEOUT_MS })
  const text = (await new Response(child.stdout).text()).trim()
  return (await child.exited) === 0 ? text : undefined
}

const SET_PUBLIC_URL = 'tally settings set --public-url https://…'

/**
 * Whether the server responds at its addresses, and whether passwords are sent unencrypted.
 *
 * @param setting the public URL of the settings; null if it is not set, undefined if they cannot be read
 */
export async function checkServer(config: Config, setting: string | null | undefined): Promise<Finding[]> {
  const publicUrl = config.publicUrl ?? setting ?? undefined
  const findings = [await askReady(await serverUrl(config), 'server'), await checkPublicUrl(config, setting)]
  const isOpen = !isLoopback(config.host)
  if (isOpen && !publicUrl?.startsWith('https:')) {
    const advice = `Put a TLS proxy in front of it, and set the proxy’s address: ${SET_PUBLIC_URL}`
    findings.push(warning('encryption', `the server listens on ${config.host} without TLS`, advice))
  }
  if (publicUrl?.startsWith('https:') && config.trustedProxies.length === 0) {
    const advice =
      'Set TALLY_TRUSTED_PROXIES to the proxy’s address, so that failed sign-ins count for the actual client.'
    findings.push(warning('proxy', 'all requests appear to come from the proxy’s address', advice))
  }
  return findings
}

const isLoopback = (host: string) => /^(127\.|localhost$|::1$)/.test(host)

/** Whether the server responds at its public URL, which links begin with. */
async function checkPublicUrl(config: Config, setting: string | null | undefined): Promise<Finding> {
  const what = 'public URL'
  const publicUrl = config.publicUrl ?? setting
  if (publicUrl === undefined) return ok(what, 'not set by an option; the settings cannot be read')
  if (publicUrl === null) {
    if (isLoopback(config.host)) return ok(what, 'not set: links work on this machine only')
    const advice = `Set it, so that links in invitations and e-mails work: ${SET_PUBLIC_URL}`
    return warning(what, 'not set: links to this server have the wrong address', advice)
  }
  const answer = await askReady(publicUrl, what)
  if (answer.level !== 'ok' || !config.publicUrl || !setting || config.publicUrl === setting) return answer
  const message = `TALLY_PUBLIC_URL is ${config.publicUrl}, but the setting is ${setting}`
  const advice = 'The option takes precedence where it is set. Remove it, or make both the same.'
  return warning(what, message, advice)
}

async function askReady(url: string, what: string): Promise<Finding> {
  try {
    const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    const body = (await answer.json().catch(() => null)) as { status?: unknown; detail?: string } | null
    if (answer.ok && body?.status === 'ready') return ok(what, `${url} is ready`)
    const message = body?.detail ?? `${url}/ready returned ${answer.status}, which is not a response of Tally`
    return failure(what, message, 'Check the server’s log.')
  } catch (error) {
    const advice = 'Start it with `tally serve`, or check address, port, proxy and firewall.'
    return failure(what, `${url} does not respond (${(error as Error).message})`, advice)
  }
}

export async function checkMail({ mail }: Config, { bills }: Services): Promise<Finding> {
  if (!mail) return ok('mail', 'no mail server configured: bills are downloaded, not sent by e-mail')
  const wrong = await bills.deliveries.checkMail()
  if (wrong)
    return failure('mail', `${mail.host}: ${wrong}`, 'Fix TALLY_SMTP_URL, or ask the administrator of the mail server.')
  const { queued, failed } = await bills.deliveries.count()
  if (failed === 0) return ok('mail', `${mail.host} accepts e-mail; ${queued} queued`)
  const advice = 'List them with `tally bills list`, fix the addresses, and resend them with `tally bills deliver`.'
  return warning('mail', `${failed} bill e-mails could not be delivered`, advice)
}

/** A scheduled update that failed once is repeated within the hour; one that is this many turns late does not run. */
const LATE_TURNS = 2

/** Updates of prices, and how recent the loaded tables are. */
export async function checkPrices({ priceUpdates, prices }: Services, now: number): Promise<Finding> {
  const { everyMs, succeededAt, error } = await priceUpdates.state()
  const newest = await prices.newestDate()
  const tables = newest === null ? 'no price table' : `prices as of ${new Date(newest).toISOString().slice(0, 10)}`
  const update = succeededAt === null ? 'never updated' : `updated ${new Date(succeededAt).toISOString()}`
  const message = everyMs === undefined && succeededAt === null ? `${tables}, no updates` : `${tables}, ${update}`
  if (error !== null) {
    const advice = 'Fix the source (TALLY_PRICES_FROM or --from), then run `tally prices update` again.'
    return warning('prices', `${message}; the last update failed: ${error}`, advice)
  }
  if (everyMs !== undefined && now - (succeededAt ?? 0) > LATE_TURNS * everyMs) {
    return warning('prices', message, 'Check that the server runs with TALLY_PRICES_EVERY, and its log.')
  }
  return ok('prices', message)
}

export async function checkPeople({ people }: Services): Promise<Finding> {
  if (await people.isSetUp()) return ok('people', 'an admin exists')
  return warning('people', 'no admin exists', 'Open the link that `tally serve` prints, or run `tally users add`.')
}

/** Erasures that have not ended, and erased texts in unused space. */
export async function checkErasures({ personalData: { erasure } }: Pick<Services, 'personalData'>): Promise<Finding> {
  const unfinished = await erasure.countUnfinished()
  if (unfinished > 0) {
    const advice = 'A running server finishes it within minutes. Check that it runs, and its log.'
    return warning('erasure', 'names of an erased person are still being replaced', advice)
  }
  if (await erasure.needsCompacting()) {
    const message = 'unused space of the database may still contain texts of an erased person'
    return warning('erasure', message, 'Run `tally compact` at a quiet time, and delete backups from before.')
  }
  return ok('erasure', 'nobody’s erased texts are left in unused space')
}

/** How many days the reports can read from totals. */
export async function checkTotals({ reports }: Pick<Services, 'reports'>): Promise<Finding> {
  const { days, days_made, percent, complete } = await reports.progress()
  // The last days are always being prepared on a server that receives reports.
  if (complete || days - days_made <= DAYS_IN_PROGRESS) return ok('reports', `the totals of ${days} days are ready`)
  return ok(
    'reports',
    `preparing the totals of ${days} days: ${percent}% are ready; until then reports are exact, but slower`,
  )
}
