/** Runs `tally agents scan`. */
import { AGENT_NAMES, type AgentName, type Counts, damageWire, type Scan, type SessionUse } from '../../agents/agent.ts'
import { type Outcome, previewUses, type Reportable, reportUses, type SendingOptions } from '../../agents/batches.ts'
import { noteAccepted } from '../../agents/journal.ts'
import { READERS } from '../../agents/readers/all.ts'
import { type ReportOptions, reportOf } from '../../agents/report.ts'
import { reportStatus } from '../../agents/report-status.ts'
import { scanAll } from '../../agents/scan.ts'
import { loadKept, storeKept } from '../../agents/scan-cache.ts'
import { sessionPlaces } from '../../agents/session-files.ts'
import { type ClientConfig, readAgentsEnvironment } from '../../config.ts'
import { COMMIT, VERSION } from '../../embedded/version.ts'
import { moneyNumber, NANO_DIGITS, type Nanos, parseDecimal } from '../../lib/money.ts'
import { usageDetails } from '../../shared/usage.ts'
import { CommandError, EXIT_INCOMPLETE } from '../failures.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print, printLongJson } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { previewWire, printPreview } from './scan-preview.ts'
import { type Priced, printDamage, printRefused, printUses } from './scan-text.ts'
import { agentsServer, findReportingServer, notePause, type ServerFlags, withServerIssues } from './server.ts'

export interface ScanFlags extends ServerFlags {
  agent?: AgentName[]
  since?: number
  report?: boolean
  dryRun?: boolean
  withTitles?: boolean
  all?: boolean
  json?: boolean
  agentName?: string
  project?: string
  ticket?: string
  label?: Record<string, string>
}

export async function runScan(flags: ScanFlags): Promise<void> {
  if (flags.dryRun) return await runDryRun(flags)
  // Before the work, so that a token that is missing is missed at once.
  const server = flags.report ? ((await findReportingServer(flags)) ?? agentsServer(flags).server) : undefined
  const scan = await scanned(flags)
  if (!flags.json) printScan(scan, flags)
  const outcome = server && (await reported(server, scan.uses, flags))
  const machine =
    outcome?.issue === null
      ? await reportStatus({ environment: readAgentsEnvironment(), server: server! }, scan.readings)
      : undefined
  if (flags.json) await printScanJson(scan, flags, { outcome })
  else if (outcome) printOutcome(outcome, server!.url)
  else if (scan.uses.length > 0) note('Nothing was sent. Add --report to report them.')
  if (machine !== undefined) note(`What could not be read was reported as well, without paths, as machine ${machine}.`)
  if (outcome) failWhereLeft(outcome)
  failWhereUnread(scan.damage)
}

/** Shows what the server would record, or, without one that can say it, only the sessions. */
async function runDryRun(flags: ScanFlags): Promise<void> {
  const server = await findReportingServer(flags)
  const scan = await scanned(flags)
  const preview = server && scan.uses.length > 0 ? await previewed(server, scan.uses, flags) : undefined
  if (flags.json) await printScanJson(scan, flags, { preview: preview && previewWire(preview, server!.url) })
  else if (preview) {
    printPreview(preview, server!.url, { all: flags.all ?? false })
    printDamage(scan)
    note('Nothing was saved. Use --report instead of --dry-run to report them.')
  } else {
    printScan(scan, flags)
    if (scan.uses.length > 0) note('Nothing was sent. Use --report instead of --dry-run to report them.')
  }
  if (!preview && scan.uses.length > 0) {
    note(
      server
        ? `${server.url} is of an earlier version, which cannot show what it would create and change. Upgrade it first.`
        : 'To see what a server would create and change, run `tally agents login` first.',
    )
  }
  if (preview && preview.refused.length > 0) {
    throw new CommandError(`The server would refuse ${counted(preview.refused.length, 'report')}.`)
  }
  failWhereUnread(scan.damage)
}

/** Undefined if the server is of an earlier version. */
function previewed(server: ClientConfig, uses: readonly SessionUse[], flags: ScanFlags) {
  return withServerIssues(() =>
    withProgress('Asking the server', (options) => previewUses(server, uses, { ...reportOptions(flags), ...options })),
  )
}

function printScan(scan: PricedScan, { agent = [...AGENT_NAMES], withTitles = false, all = false }: ScanFlags): void {
  printUses(scan, { withTitles, all })
  printDamage(scan)
  if (scan.uses.length > 0) return
  const environment = readAgentsEnvironment()
  const places = agent.flatMap((name) => sessionPlaces(READERS[name], environment))
  note(`Searched ${places.join(', ')}.`)
}

export interface PricedScan extends Scan {
  uses: Priced[]
}

export async function scanned(flags: ScanFlags): Promise<PricedScan> {
  const scan = readSessions(flags)
  return { ...scan, uses: await priced(scan.uses) }
}

/** Without costs. */
export function readSessions({ agent = [...AGENT_NAMES], since, withTitles = false }: ScanFlags): Scan {
  const progress = new Progress('Reading (MB)')
  const scan = scanAll({
    environment: readAgentsEnvironment(),
    agents: agent,
    ...(since === undefined ? {} : { since }),
    withTitles,
    onProgress: (done, total) => progress.show(Math.round(done / 1e6), Math.round(total / 1e6)),
  })
  progress.end()
  return scan
}

/** With what the agent noted, else the list value; undefined where neither is known. */
async function priced(uses: readonly SessionUse[]): Promise<Priced[]> {
  const values = (await listValuesOf(uses, 'list-values')).values()
  return uses.map((use) => {
    const days = use.days.map((day): Priced['days'][number] => {
      const value = values.next().value ?? undefined
      const listValueNanos = value === undefined ? undefined : BigInt(value)
      const isNoted = use.reportedCost !== null
      const costNanos = isNoted ? parseDecimal(day.reportedCost!, NANO_DIGITS) : listValueNanos
      return { ...day, costNanos, listValueNanos }
    })
    const known = days.flatMap(({ costNanos }) => costNanos ?? [])
    // Not a copy, since there may be many.
    return Object.assign(use, {
      days,
      costNanos: known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost),
    })
  })
}

type UsedDays = Pick<SessionUse, 'model' | 'provider' | 'service' | 'days'>

/** Programs of which two may be called the same and have different prices. */
const UNNAMED_COMMITS = new Set(['dev', 'unknown'])

/**
 * The list values of the days of all uses, in nano-dollars, whatever the agents noted; null where a model is unpriced. Kept
 * under a name as long as neither the uses nor the prices change: the price table takes longer to read than all that is kept.
 */
export async function listValuesOf(
  uses: readonly UsedDays[],
  keptAs: 'list-values' | 'summary-values',
): Promise<(string | null)[]> {
  if (uses.length === 0) return []
  const environment = readAgentsEnvironment()
  const hash = new Bun.CryptoHasher('sha256').update(`${VERSION} ${COMMIT}`)
  for (const usage of usagesOf(uses)) hash.update(JSON.stringify(usage))
  const digest = hash.digest('hex')
  const kept = loadKept<{ digest: string; values: (string | null)[] }>(environment, keptAs)
  if (kept?.digest === digest && !UNNAMED_COMMITS.has(COMMIT)) return kept.values
  const { createListValue } = await import('../../features/prices/list-value.ts')
  const listValue = createListValue()
  const values = Array.from(usagesOf(uses), (usage) => listValue(usage)?.toString() ?? null)
  storeKept(environment, keptAs, { digest, values })
  return values
}

/** Of each day, one by one, since there may be many. */
function* usagesOf(uses: readonly UsedDays[]) {
  for (const { model, provider, service, days } of uses) {
    for (const { firstAt, lastAt, tokens, requests, requestsAbove, tools } of days) {
      yield {
        ...{ model, provider, startedAt: firstAt, endedAt: lastAt, requests },
        counts: countsOf(tokens),
        details: detailsOf({ service, requestsAbove, tools }),
      }
    }
  }
}

function detailsOf({ requestsAbove, service, tools }: Pick<SessionUse, 'requestsAbove' | 'service' | 'tools'>) {
  const lengths = requestsAbove.map(({ threshold, ...counts }) => ({ threshold, counts: countsOf(counts) }))
  return usageDetails({
    requestsAbove: lengths.length > 0 ? lengths : null,
    serviceTier: service.service_tier ?? null,
    speed: service.speed ?? null,
    region: service.region ?? null,
    tools: Object.keys(tools).length > 0 ? tools : null,
  })
}

function countsOf({ input, output, cache_read, cache_write, cache_write_1h }: Counts) {
  return { input, output, cacheRead: cache_read, cacheWrite: cache_write, cacheWrite1h: cache_write_1h }
}

function reportOptions({ withTitles, agentName, project, ticket, label }: ScanFlags): ReportOptions {
  return {
    withTitles: withTitles ?? false,
    ...(agentName === undefined ? {} : { agentName }),
    ...(project === undefined ? {} : { project }),
    ...(ticket === undefined ? {} : { ticket }),
    ...(label === undefined ? {} : { labels: label }),
  }
}

async function reported(server: ClientConfig, uses: readonly SessionUse[], flags: ScanFlags): Promise<Outcome> {
  const outcome = await withProgress('Reporting entries', (options) =>
    reportUses(server, uses, { ...reportOptions(flags), ...options }),
  )
  noteAccepted(readAgentsEnvironment(), outcome.accepted)
  return outcome
}

export async function withProgress<Result>(
  title: string,
  work: (options: SendingOptions) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress(title)
  try {
    return await work({
      onProgress: (done, total) => progress.show(done, total),
      onPause: notePause,
    })
  } finally {
    progress.end()
  }
}

export function printOutcome(
  { created, updated, repeated, held, refused, left }: Outcome<Reportable>,
  url: string,
): void {
  const parts = [`${created} new`, `${updated} updated`, `${repeated} unchanged`]
  if (refused.length > 0) parts.push(`${refused.length} refused`)
  if (left > 0) parts.push(`${left} not sent`)
  print(`\nReported to ${url}: ${parts.join(', ')}.`)
  if (held > 0) {
    print(
      `${counted(held, 'entry is', 'entries are')} held: another person has reported the same sessions. Someone with the role billing or admin decides whether they count.`,
    )
  }
  printRefused(refused)
}

export function failWhereLeft({ refused, issue, left }: Outcome<Reportable>): void {
  if (issue) {
    const what = `${counted(left, 'entry', 'entries')} not sent. Run the same command again to send the rest; nothing is counted twice.`
    throw new CommandError(`${issue.message}\n${what}`)
  }
  if (refused.length > 0) throw new CommandError(`The server refused ${counted(refused.length, 'entry', 'entries')}.`)
}

export function failWhereUnread(damage: Scan['damage']): void {
  const files = new Set(damage.filter(({ isNote }) => !isNote).map(({ file }) => file)).size
  if (files === 0) return
  throw new CommandError(
    `${counted(files, 'file or folder', 'files or folders')} could not be read in full. What could not is listed, and is not counted; everything else is.`,
    EXIT_INCOMPLETE,
  )
}

async function printScanJson(
  { uses, damage, readings, files, bytes }: PricedScan,
  flags: ScanFlags,
  { outcome, preview }: { outcome?: Outcome | undefined; preview?: object | undefined },
): Promise<void> {
  const options = reportOptions(flags)
  const wireOf = (use: Priced) => ({
    report: reportOf(use, options),
    cost: use.costNanos === undefined ? null : moneyNumber(use.costNanos),
    cost_basis: use.costNanos === undefined ? null : use.reportedCost === null ? 'list_value' : 'agent',
    ...(use.days.length > 1 ? { days: use.days.map(dayWire) } : {}),
    folder: use.folder,
    file: use.file,
  })
  await printLongJson(uses, wireOf, {
    damage: damage.map(damageWire),
    agents: readings.map(({ agent, version, sessions, notRead }) => ({
      ...{ agent_harness: agent, version, sessions, not_read: notRead },
    })),
    files,
    bytes,
    cost: moneyNumber(sumOf(uses)),
    unpriced: uses.filter(({ days }) => days.some(({ costNanos }) => costNanos === undefined)).length,
    reported: outcome
      ? {
          created: outcome.created,
          updated: outcome.updated,
          repeated: outcome.repeated,
          held: outcome.held,
          refused: outcome.refused.map(({ use, refusal }) => ({
            agent_harness: use.agentHarness,
            session_id: use.sessionId,
            model: use.model,
            problem: refusal,
          })),
          left: outcome.left,
        }
      : null,
    preview: preview ?? null,
  })
}

function dayWire({ firstAt, place: { repository, branch }, requests, tokens, costNanos }: Priced['days'][number]) {
  const cost = costNanos === undefined ? null : moneyNumber(costNanos)
  return { day: new Date(firstAt).toISOString().slice(0, 10), repository, branch, requests, tokens, cost }
}

export function sumOf(uses: readonly Priced[]): Nanos {
  return uses.reduce((sum, { costNanos }) => sum + (costNanos ?? 0n), 0n)
}
