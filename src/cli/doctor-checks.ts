/** The checks of `tally doctor`. Each returns its findings, with advice if something is wrong. */
import { accessSync, constants, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config, ConfigIssue } from '../config.ts'
import { issueAt } from '../database/database-place.ts'
import type { Services } from '../services.ts'
import { agentNotReadText, agentText } from '../shared/not-read.ts'
import { isLoopback, serverUrl } from './address.ts'
import { messageOf } from './failures.ts'
import { hindranceOf } from './readiness.ts'
import { counted, sizeText } from './terminal/numbers.ts'

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

/** What a check finds, or that it could not be done. */
export async function attempt(what: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check()
  } catch (error) {
    const [message, advice] = sentencesOf(await messageOf(error))
    return [failure(what, message, ADVICE.find(([pattern]) => pattern.test(message))?.[1] ?? advice)]
  }
}

const RESTORE =
  'Stop the server, copy the folder before you do anything else, look for disk errors in the system’s log, and restore a backup: tally restore latest --replace'

/** What to do about errors that name no way out, or another one to a server's clients. */
const ADVICE: [message: RegExp, advice: string][] = [
  [/corrupt|SQLITE_(CORRUPT|NOTADB)/, RESTORE],
  [/is locked/, 'Find the process that locks it, such as sqlite3 or a program for backups: fuser tally.db'],
  [
    /database server does not respond|^PostgreSQL error/,
    'Check that PostgreSQL runs and accepts connections from this machine, and TALLY_DATABASE_URL.',
  ],
]

/** The first sentence, and those after it, which are what to do. */
function sentencesOf(text: string): [first: string, rest: string] {
  const [, first = text, rest = ''] = /^(.*?)\.\s+(.*)$/s.exec(text) ?? []
  return [first.replace(/\.$/, ''), rest || 'Check the server’s log.']
}

/** Options that are not valid, or name a file that cannot be read: the other checks go on without them. */
export function checkOptions(issues: readonly ConfigIssue[]): Finding[] {
  return issues.map(({ message }) => {
    const [what, advice] = sentencesOf(message)
    return failure('options', what, advice)
  })
}

/** The folder and the files in it: whose they are, who else reads them, whether there is space. */
export async function checkFiles(
  config: Config,
  { fix, issues }: { fix: boolean; issues: readonly ConfigIssue[] },
): Promise<Finding[]> {
  const { dataDir, databaseUrl } = config
  if (issues.some(({ option }) => option === 'databaseUrl' || option === 'databaseUrlFile')) {
    return [failure('database', 'its URL is not known', 'Fix the option above, and run this command again.')]
  }
  if (databaseUrl) return [ok('database', 'stored in PostgreSQL')]
  const file = join(dataDir, 'tally.db')
  const access = checkAccess(dataDir, file)
  if (access.level === 'error') return [access]
  return [
    access,
    ...(await attempt('database', () => checkReadable(file))),
    ...(await attempt('privacy', async () => [await checkPrivacy(config, fix)])),
    ...(await attempt('disk', async () => [await checkSpace(dataDir, file)])),
    ...(await attempt('log', async () => [await checkLog(dataDir, file)])),
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
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      const advice = 'Set its folder with --data or TALLY_DATA, or create a new one with `tally serve`.'
      return failure('database', `no database in ${resolve(dataDir)}`, advice)
    }
    const advice =
      'Run this command as the user that runs the server, who must own the folder: sudo -u tally tally doctor'
    return failure('files', message, advice)
  }
}

/** Whether the file begins as a database, and nobody locks it: to open it as other commands do may take a minute. */
async function checkReadable(file: string): Promise<Finding[]> {
  const issue = issueAt(resolve(file))
  if (issue) return [failure('database', issue.what, issue.advice)]
  const { ask } = await import('../database/engines/sqlite/one-query.ts')
  ask(file, 'SELECT 1 FROM sqlite_schema')
  return []
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
    const hindrance = await hindranceOf(url)
    return hindrance === undefined ? ok(what, `${url} is ready`) : failure(what, hindrance, 'Check the server’s log.')
  } catch (error) {
    const advice = 'Start it with `tally serve`, or check address, port, proxy and firewall.'
    return failure(what, `${url} does not respond (${(error as Error).message})`, advice)
  }
}

/** Whether the mail server accepts the connection and the password. */
export async function checkMail({ mail }: Config): Promise<Finding> {
  if (!mail) return ok('mail', 'no mail server configured: bills are downloaded, not sent by e-mail')
  const { createMailer } = await import('../features/bills/service.ts')
  const wrong = await createMailer(mail).check()
  if (wrong === undefined) return ok('mail', `${mail.host} accepts e-mail`)
  return failure('mail', `${mail.host}: ${wrong}`, 'Fix TALLY_SMTP_URL, or ask the administrator of the mail server.')
}

export async function checkQueue({ bills }: Pick<Services, 'bills'>): Promise<Finding> {
  const { queued, failed } = await bills.deliveries.count()
  if (failed === 0) return ok('bills', `${queued} queued to be sent by e-mail`)
  const advice = 'List them with `tally bills list`, fix the addresses, and resend them with `tally bills deliver`.'
  return warning('bills', `${failed} bill e-mails could not be delivered`, advice)
}

/** Clocks of machines that are synchronized agree to a fraction of this. */
const CLOCK_TOLERANCE_MS = 60_000

const SYNCHRONIZE = 'Synchronize the clocks of all machines: it dates bills, links, tokens and backups.'

/** Whether this machine's clock agrees with what was recorded, and with that of the database server. */
export async function checkRecordedTimes(
  { entries, databaseTime }: Pick<Services, 'entries' | 'databaseTime'>,
  now: number,
): Promise<Finding[]> {
  const recordedAt = await entries.listing.lastRecordedAt()
  const databaseAt = await databaseTime()
  const findings: Finding[] = []
  if (recordedAt !== null && recordedAt - now > CLOCK_TOLERANCE_MS) {
    const message = `the clock is behind: entries were recorded at ${new Date(recordedAt).toISOString()}`
    findings.push(failure('clock', message, SYNCHRONIZE))
  }
  const offsetMs = databaseAt === null ? 0 : databaseAt - Date.now()
  if (Math.abs(offsetMs) > CLOCK_TOLERANCE_MS) {
    const seconds = counted(Math.round(Math.abs(offsetMs) / 1000), 'second')
    const message = `the clock is ${seconds} ${offsetMs > 0 ? 'behind' : 'ahead of'} that of the database server`
    findings.push(failure('clock', message, SYNCHRONIZE))
  }
  return findings
}

/** A scheduled update that failed once is repeated within the hour; one that is this many turns late does not run. */
const LATE_TURNS = 2

/** Updates of prices, and how recent the loaded tables and the prices of models in use are. */
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
  const outdated = await prices.outdatedInUse(now - PRICE_AGE_LIMIT_MS)
  if (outdated.length > 0) {
    const first = outdated
      .slice(0, NAMED)
      .map(({ model, asOf }) => `${model} (${new Date(asOf).toISOString().slice(0, 10)})`)
    const named = [...first, ...(outdated.length > NAMED ? [`${outdated.length - NAMED} more`] : [])].join(', ')
    const advice = 'Load current prices with `tally prices update`, or update Tally, which has a price table.'
    return warning('prices', `${message}; prices in use are older than ${PRICE_AGE_LIMIT_DAYS} days: ${named}`, advice)
  }
  return ok('prices', message)
}

/** How many models a message names. */
const NAMED = 3

/** Vendors change prices a few times a year. */
const PRICE_AGE_LIMIT_DAYS = 90
const PRICE_AGE_LIMIT_MS = PRICE_AGE_LIMIT_DAYS * 86_400_000

export async function checkPeople({ people }: Services): Promise<Finding> {
  if (await people.isSetUp()) return ok('people', 'an admin exists')
  return warning('people', 'no admin exists', 'Open the link that `tally serve` prints, or run `tally users add`.')
}

/** What agents recorded and Tally could not read, on everyone's machines. */
export async function checkAgents({ agentStatus }: Pick<Services, 'agentStatus'>): Promise<Finding[]> {
  const page = { after: undefined, limit: AGENTS_NAMED }
  const { data, has_more } = await agentStatus.list(COMMAND_LINE, { readsAll: false }, page)
  const advice = 'Update Tally on that machine. If it remains, `tally agents scan` there lists the files.'
  const findings = data.map(({ user, agent_harness, version, not_read }) => {
    const agent = `${agentText(agent_harness, version)} of ${user.email}`
    return warning('agents', agentNotReadText(agent, null, not_read), advice)
  })
  if (!has_more)
    return findings.length > 0 ? findings : [ok('agents', 'everything that machines have reported was read')]
  const others = (await agentStatus.countUnread(null)) - data.length
  const message = `${counted(others, 'more agent')} with something that was not read`
  return [...findings, warning('agents', message, 'List them with `tally users agents --reads-all no`.')]
}

/** How many agents are listed one by one. */
const AGENTS_NAMED = 10

/** Sees what is everyone's. */
const COMMAND_LINE = { person: null }

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
  if (complete || days - days_made <= DAYS_IN_PROGRESS)
    return ok('reports', `the totals of ${counted(days, 'day')} are ready`)
  return ok(
    'reports',
    `preparing the totals of ${counted(days, 'day')}: ${percent}% are ready; until then reports are exact, but slower`,
  )
}
