/** Reports many sessions in as few calls as the server allows. */
import type { ClientConfig } from '../config.ts'
import type { SessionUse } from './agent.ts'
import { type ReportOptions, type ReportText, reportText } from './report.ts'
import {
  BATCH_LIMIT,
  findTimeZone,
  mayPass,
  type PlannedEntry,
  type Refusal,
  type Reported,
  readTimeZone,
  reportBatch,
  ServerError,
  tryOutBatch,
} from './server.ts'

/** A server that restarts is back by then; a person who waits is not kept any longer. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000]

/** Keeps calls short: the server accepts larger bodies. */
const BATCH_BYTES = 1_000_000

/** What a report is of: a session's use of a model, as its files or as another server has it. */
export interface Reportable {
  agentHarness: string
  sessionId: string
  model: string
}

export interface Outcome<Of extends Reportable = SessionUse> {
  created: number
  updated: number
  /** Unchanged: already known to the server. */
  repeated: number
  /** Among these, those that are not counted because another person has reported the same session. */
  held: number
  /** With the number of entries that each is on the server. */
  accepted: { use: Of; entries: number; result: 'created' | 'updated' | 'repeated' }[]
  refused: { use: Of; refusal: Refusal }[]
  /** Why the rest was not sent; null if everything was sent. */
  issue: ServerError | null
  /** How many were not sent, or not acknowledged. */
  left: number
}

export interface SendingOptions {
  onProgress?: (done: number, total: number) => void
  /** Called before each pause. */
  onPause?: (reason: string, pauseMs: number) => void
}

export interface ReportingOptions extends ReportOptions, SendingOptions {}

/** Reports what the agents of this machine have used, see {@link reportAll}. */
export function reportUses(
  server: ClientConfig,
  uses: readonly SessionUse[],
  options: ReportingOptions = {},
): Promise<Outcome> {
  const textsIn = async () => textsBy(options, await findTimeZone(server, uses))
  return reportAll(server, uses, textsIn, options)
}

const textsBy = (options: ReportOptions, timeZone: string | undefined) => (use: SessionUse) =>
  reportText(use, timeZone === undefined ? options : { ...options, timeZone })

/**
 * Reports all of them and returns the outcome of each. Reports are totals so far: sending one again after a lost
 * response, or from another scan, changes nothing. `texts` may ask the server first.
 */
export async function reportAll<Of extends Reportable>(
  server: ClientConfig,
  uses: readonly Of[],
  texts: () => Promise<TextOf<Of>> | TextOf<Of>,
  options: SendingOptions = {},
): Promise<Outcome<Of>> {
  const counts = { created: 0, updated: 0, repeated: 0, held: 0, left: uses.length }
  const outcome: Outcome<Of> = { ...counts, accepted: [], refused: [], issue: null }
  try {
    for (const batch of batchesOf(uses, await texts())) {
      await reportBatchOf(server, batch, options, (sent, reported) => {
        outcome.left -= 1
        if (reported.result === 'rejected') {
          outcome.refused.push({ use: sent.use, refusal: reported.refusal })
          return
        }
        outcome.accepted.push({ use: sent.use, entries: reported.entries, result: reported.result })
        outcome[reported.result] += 1
        if (reported.isHeld) outcome.held += 1
      })
      options.onProgress?.(uses.length - outcome.left, uses.length)
    }
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    outcome.issue = error
  }
  return outcome
}

/** What reporting would do. */
export interface Preview {
  /** The entries that would be created or change, and the others of the sessions. */
  entries: PlannedEntry[]
  refused: Outcome<Reportable>['refused']
  timeZone: string
}

export interface PreviewOf<Of extends Reportable> extends Preview {
  /** Of which the server has something. */
  known: Set<Of>
}

/** What {@link reportUses} would do, see {@link previewAll}. */
export const previewUses = (
  server: ClientConfig,
  uses: readonly SessionUse[],
  options: ReportingOptions = {},
): Promise<Preview | undefined> => previewAll(server, uses, (timeZone) => textsBy(options, timeZone), options)

/**
 * What {@link reportAll} would do, without saving anything. Undefined if the server is of an earlier version, to which
 * nothing is sent: it might record a report whose parameter it does not know. Throws {@link ServerError}.
 */
export async function previewAll<Of extends Reportable>(
  server: ClientConfig,
  uses: readonly Of[],
  textsIn: (timeZone: string) => TextOf<Of>,
  options: SendingOptions = {},
): Promise<PreviewOf<Of> | undefined> {
  const timeZone = await patiently(() => readTimeZone(server), options)
  if (timeZone === undefined) return undefined
  const preview: PreviewOf<Of> = { entries: [], refused: [], timeZone, known: new Set() }
  let done = 0
  for (const batch of batchesOf(uses, textsIn(timeZone))) {
    const texts = batch.map(({ text }) => text)
    const tried = await patiently(() => tryOutBatch(server, texts), options)
    if (!tried) return undefined
    const { results, entries } = tried
    for (const entry of entries) preview.entries.push(entry)
    for (const [index, reported] of results.entries()) {
      const { use } = batch[index]!
      if (reported.result === 'rejected') preview.refused.push({ use, refusal: reported.refusal })
      else if (!reported.isNew) preview.known.add(use)
    }
    done += batch.length
    options.onProgress?.(done, uses.length)
  }
  return preview
}

/** Repeats a call while the server may only be busy or restarting. */
export async function patiently<Answer>(
  call: (isLast: boolean) => Promise<Answer>,
  { onPause }: SendingOptions,
): Promise<Answer> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await call(false)
    } catch (error) {
      if (!(error instanceof ServerError) || !error.mayPass) throw error
      onPause?.(error.message, pauseMs)
      await Bun.sleep(pauseMs)
    }
  }
  return await call(true)
}

type TextOf<Of> = (use: Of) => ReportText

interface Report<Of> {
  use: Of
  text: ReportText
}

/** With all models of a session in one batch, where they fit, so that a dry run sees them together. */
function* batchesOf<Of extends Reportable>(uses: readonly Of[], textOf: TextOf<Of>): Generator<Report<Of>[]> {
  let batch: Report<Of>[] = []
  let bytes = 0
  const sessions = Map.groupBy(uses, ({ agentHarness, sessionId }) => `${agentHarness} ${sessionId}`)
  for (const session of sessions.values()) {
    const reports = session.map((use): Report<Of> => ({ use, text: textOf(use) }))
    const isLong = reports.length > BATCH_LIMIT || bytesOf(reports) > BATCH_BYTES
    for (const together of isLong ? reports.map((report) => [report]) : [reports]) {
      if (batch.length + together.length > BATCH_LIMIT || (bytes > 0 && bytes + bytesOf(together) > BATCH_BYTES)) {
        yield batch
        batch = []
        bytes = 0
      }
      batch.push(...together)
      bytes += bytesOf(together)
    }
  }
  if (batch.length > 0) yield batch
}

const bytesOf = (reports: readonly Report<unknown>[]) => reports.reduce((sum, { text }) => sum + text.sliced.length, 0)

/** Repeats until each is acknowledged or permanently refused. Throws the server's error if it persists. */
async function reportBatchOf<Of>(
  server: ClientConfig,
  batch: Report<Of>[],
  options: SendingOptions,
  onReported: (report: Report<Of>, reported: Reported) => void,
): Promise<void> {
  let waiting = batch
  await patiently(async (isLast) => {
    const results = await reportBatch(
      server,
      waiting.map(({ text }) => text),
    )
    const isLater = (index: number) => !isLast && mayPass(results[index]!)
    for (const [index, report] of waiting.entries()) if (!isLater(index)) onReported(report, results[index]!)
    const refusal = results.find((_, index) => isLater(index))?.refusal
    waiting = waiting.filter((_, index) => isLater(index))
    if (refusal) throw new ServerError(refusal.detail, refusal.status)
  }, options)
}
