/** Delivers the sessions in the spool. A file is removed when the server has acknowledged the session's usage. */
import type { AgentsEnvironment, ClientConfig } from '../config.ts'
import { type AgentName, type AgentReading, type Damage, damageText, type Scan } from './agent.ts'
import { log, noteDelivery, noteError } from './journal.ts'
import { type ReportText, reportText } from './report.ts'
import { reportStatus } from './report-status.ts'
import { scanSession } from './scan.ts'
import { BEAT_MS, beat, releaseLock, senderLockPath, takeLock } from './sender-lock.ts'
import { findTimeZone, mayPass, type Reported, refusalText, reportBatch, ServerError } from './server.ts'
import { forgetRefused, type Job, keepRefused, type RefusedJob, readJobs, removeWaiting, spoolFolder } from './spool.ts'

/**
 * A session's file can lag behind the hook: agents write it through a queue. It is read immediately, so that its usage
 * is reported soon, and again after this time; only then is the hook's job removed. Anything written even later is
 * reported by a later hook or at the end of the session.
 */
const SETTLING_MS = 5_000

/** Doubled after each attempt, up to the longest. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * Long enough for a server to be restarted or upgraded. Otherwise the next hook tries again: a process should not wait
 * on a developer's machine all day.
 */
export const BACKGROUND_PATIENCE_MS = 15 * 60_000

export interface Delivered {
  agent: AgentName
  sessionId: string
  /** Number of the session's entries on the server, one per model, day and place. */
  entries: number
  /** `created` if any entry is new, otherwise `updated` if any changed. */
  result: 'created' | 'updated' | 'repeated'
}

export interface Delivery {
  delivered: Delivered[]
  refused: RefusedJob[]
  /** Sessions without usage in their files. */
  empty: { agent: AgentName; sessionId: string }[]
  damage: Damage[]
  /** Why the rest is still queued; null if nothing is. */
  issue: ServerError | null
}

/** Selects the jobs. */
export interface Destination {
  environment: AgentsEnvironment
  server: { url: string }
  /** The server of jobs that don't name one. */
  usualServer: string
}

export interface SendingOptions extends Destination {
  server: ClientConfig
  /** How long an unreachable server is retried. */
  patienceMs: number
  /** Called before each pause. */
  onPause?: (issue: ServerError, pauseMs: number) => void
}

/** All jobs of one session. */
interface Session {
  agent: AgentName
  sessionId: string
  /** The latest job. */
  job: Job
  jobs: { name: string; settlesInMs: number }[]
}

/** Delivers everything queued for this server, until the queue is empty or `patienceMs` has passed. */
export async function deliverWaiting(options: SendingOptions): Promise<Delivery> {
  const { environment, patienceMs, onPause } = options
  const sender = new Sender(options)
  const startedAt = performance.now()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const issue = await sender.deliverSettling()
    if (issue) log(environment, issue.message)
    noteError(environment, issue && { at: new Date().toISOString(), message: issue.message })
    if (!issue?.mayPass || performance.now() - startedAt + pauseMs > patienceMs) {
      if (!issue) await reportStatus(options, sender.readings())
      return sender.delivery(issue)
    }
    onPause?.(issue, pauseMs)
    await Bun.sleep(pauseMs)
  }
}

/** Like {@link deliverWaiting}, unless another sender for the same server is running. */
export async function deliverInBackground(options: SendingOptions & { named: string | null }): Promise<void> {
  const path = senderLockPath(options.environment, options.named)
  do {
    if (!takeLock(path)) return
    const beating = setInterval(() => beat(path), BEAT_MS)
    try {
      const { issue } = await deliverWaiting(options)
      if (issue) return
    } finally {
      clearInterval(beating)
      releaseLock(path)
    }
    // A hook may have seen the lock and relied on this sender while it was about to end.
  } while (waitingFor(options).length > 0)
}

/** Sessions waiting for this server, longest waiting first. */
export function waitingFor({ environment, server, usualServer }: Destination): Session[] {
  const { waiting } = readJobs(environment)
  const now = Date.now()
  const sessions = new Map<string, Session>()
  for (const { name, content: job } of waiting) {
    if ((job.server ?? usualServer) !== server.url) continue
    const key = JSON.stringify([job.agent, job.sessionId, job.environment])
    const { jobs, job: before } = sessions.get(key) ?? { jobs: [], job }
    const ageMs = now - Date.parse(job.at)
    // After a clock was set back, a hook's time can be in the future; it must not be waited for.
    const settlesInMs = ageMs >= 0 && ageMs < SETTLING_MS ? SETTLING_MS - ageMs : 0
    sessions.set(key, {
      agent: job.agent,
      sessionId: job.sessionId,
      job: { ...job, transcriptPath: job.transcriptPath ?? before.transcriptPath },
      jobs: [...jobs, { name, settlesInMs }],
    })
  }
  return [...sessions.values()]
}

class Sender {
  readonly #options: SendingOptions
  readonly #delivered = new Map<string, Delivered>()
  readonly #refused = new Map<string, RefusedJob>()
  readonly #empty = new Map<string, Session>()
  readonly #damage = new Map<string, Damage>()
  /** The latest of each agent, and of each of its folders. */
  readonly #readings = new Map<string, AgentReading>()
  /** Jobs whose session has been read since: it need not be read again before they settle. */
  readonly #read = new Set<string>()
  /** The latest acknowledged report of each session: most reads find the same again. */
  readonly #acknowledged = new Map<string, string>()

  constructor(options: SendingOptions) {
    this.#options = options
  }

  delivery(issue: ServerError | null): Delivery {
    return {
      delivered: [...this.#delivered.values()],
      refused: [...this.#refused.values()],
      empty: [...this.#empty.values()].map(({ agent, sessionId }) => ({ agent, sessionId })),
      damage: [...this.#damage.values()],
      issue,
    }
  }

  readings(): AgentReading[] {
    return [...this.#readings.values()]
  }

  /** Continues until nothing is waiting, including second readings, or until the server fails. */
  async deliverSettling(): Promise<ServerError | null> {
    for (;;) {
      const sessions = waitingFor(this.#options)
      if (sessions.length === 0) return null
      const isDue = ({ name, settlesInMs }: Session['jobs'][number]) => settlesInMs === 0 || !this.#read.has(name)
      const due = sessions.filter(({ jobs }) => jobs.some(isDue))
      try {
        for (const session of due) await this.#deliver(session)
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        this.#forgetRepeated(sessions)
        return error
      }
      if (due.length > 0) continue
      await Bun.sleep(Math.min(...sessions.flatMap(({ jobs }) => jobs.map(({ settlesInMs }) => settlesInMs))))
    }
  }

  /** The last hook of a session is enough: usage is read at delivery, whenever that is. */
  #forgetRepeated(sessions: Session[]): void {
    const repeated = sessions.flatMap(({ jobs }) => jobs.slice(0, -1).map(({ name }) => name))
    removeWaiting(spoolFolder(this.#options.environment), repeated)
  }

  async #deliver(session: Session): Promise<void> {
    const { uses, damage, readings } = readSession(session)
    for (const reading of readings) this.#readings.set(`${reading.agent} ${reading.source}`, reading)
    const timeZone = await findTimeZone(this.#options.server, uses)
    const reports = uses.map((use) => reportText(use, timeZone === undefined ? {} : { timeZone }))
    const text = reports.map(({ sliced }) => sliced).join('\n')
    const key = keyOf(session)
    if (text !== '' && this.#acknowledged.get(key) !== text) {
      await this.#report(session, reports)
      this.#acknowledged.set(key, text)
    }
    const settled = session.jobs.filter(({ settlesInMs }) => settlesInMs === 0).map(({ name }) => name)
    if (settled.length === session.jobs.length) {
      if (text === '') this.#leaveEmpty(session, damage)
      for (const each of damage) this.#recordDamage(session, each)
    }
    for (const { name } of session.jobs) this.#read.add(name)
    removeWaiting(spoolFolder(this.#options.environment), settled)
  }

  async #report(session: Session, reports: ReportText[]): Promise<void> {
    try {
      this.#acknowledge(session, await reportBatch(this.#options.server, reports))
    } catch (error) {
      if (!(error instanceof ServerError) || !error.isOfContent) throw error
      this.#refuse(session, [error.message])
    }
  }

  #acknowledge(session: Session, results: Reported[]): void {
    const { environment, server } = this.#options
    const passing = results.find(mayPass)
    if (passing) throw new ServerError(`${server.url} is busy: ${passing.refusal!.detail}`, passing.refusal!.status)
    const reasons = results.flatMap(({ refusal }) => (refusal ? [refusalText(refusal)] : []))
    if (reasons.length > 0) this.#refuse(session, reasons)
    else forgetRefused(environment, session)
    const { agent, sessionId } = session
    const taken = results.filter((each) => each.result !== 'rejected')
    if (taken.length === 0) return
    const entries = taken.reduce((sum, each) => sum + each.entries, 0)
    const known = [this.#delivered.get(keyOf(session))?.result, ...taken.map(({ result }) => result)]
    const result = (['created', 'updated'] as const).find((each) => known.includes(each)) ?? 'repeated'
    this.#delivered.set(keyOf(session), { agent, sessionId, entries, result })
    noteDelivery(environment, agent, { at: new Date().toISOString(), sessionId, entries })
  }

  /** Moves the session out of the queue, where it would block the others; `tally agents status` shows it. */
  #refuse(session: Session, reasons: string[]): void {
    const refused = { job: session.job, at: new Date().toISOString(), reasons }
    forgetRefused(this.#options.environment, session)
    keepRefused(this.#options.environment, refused)
    this.#refused.set(keyOf(session), refused)
    log(this.#options.environment, `the server refused ${keyOf(session)}: ${reasons.join('; ')}`)
  }

  #leaveEmpty(session: Session, damage: Damage[]): void {
    const unreadable = damage.filter(({ line, isNote }) => line === null && !isNote)
    if (unreadable.length > 0) {
      const reasons = unreadable.map(({ file, what }) => `${file}: ${what}`)
      this.#refuse(session, reasons)
    } else {
      this.#empty.set(keyOf(session), session)
      log(this.#options.environment, `${keyOf(session)} has no usage in its session files`)
    }
  }

  #recordDamage(session: Session, damage: Damage): void {
    const what = damageText(damage)
    if (this.#damage.has(what)) return
    this.#damage.set(what, damage)
    log(this.#options.environment, `${keyOf(session)} is counted only in part: ${what}`)
  }
}

function keyOf({ agent, sessionId }: Pick<Session, 'agent' | 'sessionId'>): string {
  return `${agent} ${sessionId}`
}

/** A session that cannot be read must not block the others: it is reported as damaged. */
function readSession({ job }: Session): Pick<Scan, 'uses' | 'damage' | 'readings'> {
  const { agent, sessionId, transcriptPath, environment } = job
  const session = transcriptPath === null ? { sessionId } : { sessionId, transcriptPath }
  try {
    return scanSession(agent, session, environment)
  } catch (error) {
    const damage = { file: transcriptPath ?? sessionId, line: null, what: (error as Error).message }
    return { uses: [], damage: [damage], readings: [] }
  }
}
