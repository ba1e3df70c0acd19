/** Updates of prices from a source that an admin named: on request, or on a schedule that an admin turned on. */

import { type Actor, TALLY } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { Problem } from '../../errors.ts'
import { firstCharacters } from '../../lib/characters.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import { noticeSubject, noticeText } from './change-notice.ts'
import type { PlannedTable } from './load-plan.ts'
import type { createLoading, LoadedTable, TableOptions } from './loading.ts'
import type { Repriced, Revaluation } from './repricing.ts'
import { findDueNotice, findLoadNamed, type LoadRecord, setNoticeDue } from './store/loads.ts'
import { claimUpdate, readUpdate, recordUpdate, type UpdateState } from './store/updates.ts'
import { readTableFile, type TableFile } from './table-source.ts'
import { guardUpdate } from './update-guard.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How often the schedule is checked, so that a changed clock or a machine that slept is noticed within a minute. */
const CHECK_MS = MINUTE_MS

/** A failed scheduled update is tried again after this time, or at its next turn if that is sooner. */
const RETRY_MS = HOUR_MS

/** A notice in progress is reserved for its sender: longer than sending takes, even with a slow mail server. */
const NOTICE_CLAIM_MS = 10 * MINUTE_MS

/** A notice that cannot be sent is tried again, until it is no longer news. */
const NOTICE_RETRY_MS = 15 * MINUTE_MS
const NOTICE_LIFE_MS = 48 * HOUR_MS

/** Errors are shown on pages and in metrics, but some servers send pages. */
const ERROR_LIMIT = 500

export interface UpdateOptions extends Pick<TableOptions, 'format' | 'asOf' | 'allowOlder'> {
  /** The address or the file; the configured one if absent. Only for whoever may read the server's files. */
  from?: string | undefined
  by: Actor
  dryRun?: boolean | undefined
  /** Limits the download and the valuation of unpriced entries. */
  timeoutMs?: number | undefined
  budgetMs?: number | undefined
  onProgress?: ((bytes: number, total: number | undefined) => void) | undefined
}

export type PriceUpdate = (LoadedTable | (PlannedTable & { load: null })) & {
  /** Null in a dry run. */
  valued: Repriced | null
}

/** The options of the server; both are undefined unless an admin sets them. */
export interface UpdatesConfig {
  from: string | undefined
  everyMs: number | undefined
}

interface Dependencies {
  db: Database
  clock: Clock
  prices: Pick<ReturnType<typeof createLoading>, 'planTable' | 'load'> & { loadDefaultPrices(): Promise<boolean> }
  people: Pick<PeopleService, 'everyUser'>
  notifications: Pick<NotificationsService, 'hasMailServer' | 'sendToEach'>
  organization: Pick<OrganizationService, 'settings'>
  revaluation: Revaluation
  config: UpdatesConfig | undefined
}

export function createPriceUpdates(dependencies: Dependencies) {
  const { db, clock, prices, people, notifications, organization, revaluation, config } = dependencies

  /** Reads the source, and loads what is plausible. Throws a problem that says why it did not. */
  async function load(file: TableFile, { by, dryRun, budgetMs, ...options }: UpdateOptions): Promise<PriceUpdate> {
    await prices.loadDefaultPrices()
    const { text, ...origin } = file
    const previous = await findLoadNamed(db.read, origin.name)
    const revise = (planned: PlannedTable): PlannedTable => {
      const { rows, refused } = planned.reading
      const sizes = { rows: rows.length + refused.length, previousRows: previous && rowsOf(previous) }
      return { ...planned, plan: guardUpdate(planned.plan, sizes) }
    }
    const { format, asOf, allowOlder } = options
    const planned = await prices.planTable(text, { format, asOf, allowOlder, ...origin })
    if (dryRun) return { ...revise(planned), load: null, valued: null }
    const loaded = await prices.load(planned, by, { revise, notifies: notifications.hasMailServer })
    const valued = await revaluation.valueUnpriced({ by, budgetMs: budgetMs ?? Number.POSITIVE_INFINITY })
    return { ...loaded, valued }
  }

  /** Records the attempt, whether it succeeds or not, so that all servers and pages know of it. */
  async function attempt(options: UpdateOptions): Promise<PriceUpdate> {
    const from = options.from ?? config?.from
    if (from === undefined) throw sourceNotSet()
    const attemptedAt = clock.now()
    try {
      const file = await readTableFile(from, {
        ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
        ...(options.onProgress && { onProgress: options.onProgress }),
      })
      const update = await load(file, options)
      const succeededAt = clock.now()
      if (!options.dryRun) {
        await db.write((tx) =>
          recordUpdate(tx, { source: file.name, attemptedAt, succeededAt, error: null, failures: 0 }),
        )
      }
      return update
    } catch (error) {
      if (!options.dryRun) await recordFailure(attemptedAt, error)
      throw error
    }
  }

  async function recordFailure(attemptedAt: number, error: unknown): Promise<void> {
    const text = error instanceof Problem ? error.detail : 'An unexpected error; the server log has the cause.'
    await db.write(async (tx) => {
      const { source, succeededAt, failures } = await readUpdate(tx)
      await recordUpdate(tx, {
        source,
        attemptedAt,
        succeededAt,
        error: firstCharacters(text, ERROR_LIMIT),
        failures: failures + 1,
      })
    })
  }

  /** Whether this server is the one to run the update that is due. */
  async function claim(everyMs: number): Promise<boolean> {
    const { attemptedAt, failures } = await readUpdate(db.read)
    const now = clock.now()
    const pauseMs = failures > 0 ? Math.min(everyMs, RETRY_MS) : everyMs
    if (attemptedAt !== null && attemptedAt <= now && now - attemptedAt < pauseMs) return false
    return db.write((tx) => claimUpdate(tx, { now, before: now - pauseMs }))
  }

  async function sendNotice(load: LoadRecord): Promise<boolean> {
    const { notice } = load
    if (notice === null) return true
    const { timeZone } = await organization.settings()
    const source = load.name ?? load.format
    return notifications.sendToEach(await people.everyUser({ roles: ['admin', 'billing'], state: 'active' }), {
      key: load.uid,
      subject: noticeSubject(notice),
      textFor: (name, formats) => noticeText({ notice, organization: name, formats, timeZone, source, load: load.uid }),
    })
  }

  /**
   * Sends the notices of price changes that are due, each at least once: an interrupted or failed one is sent again,
   * to whoever has not got it. Several servers share them.
   */
  async function sendNotices(): Promise<void> {
    for (let due = await findDueNotice(db.read, clock.now()); due; due = await findDueNotice(db.read, clock.now())) {
      const { id, noticeDueAt, loadedAt } = due
      const claimed = clock.now() + NOTICE_CLAIM_MS
      if (!(await db.write((tx) => setNoticeDue(tx, { id, noticeDueAt }, claimed)))) continue
      const isSent = await sendNotice(due)
      const isNews = clock.now() - loadedAt < NOTICE_LIFE_MS
      const next = isSent || !isNews ? null : clock.now() + NOTICE_RETRY_MS
      await db.write((tx) => setNoticeDue(tx, { id, noticeDueAt: claimed }, next))
    }
  }

  /** Only one of several servers runs what is due. */
  const updating = (everyMs: number) =>
    new Job({
      name: 'price-updates',
      task: 'update prices',
      everyMs: CHECK_MS,
      isUrgent: true,
      async run({ log }) {
        if (!(await claim(everyMs))) return
        const { origin, load, plan } = await attempt({ by: TALLY })
        const { additions, older, refused } = plan
        const counts = { added: additions.length, older: older.length, refused: refused.length }
        log({ source: origin.name, load, ...counts }, 'updated prices')
      },
    })

  /** Also of updates on the command line. */
  const noticing = new Job({
    name: 'price-notices',
    task: 'send notices of price changes by e-mail',
    everyMs: CHECK_MS,
    isUrgent: true,
    run: sendNotices,
  })

  return {
    update: attempt,

    state: async (): Promise<UpdateState> => ({
      ...(await readUpdate(db.read)),
      isConfigured: config?.from !== undefined,
      everyMs: config?.everyMs,
    }),

    sendNotices,

    jobs: [
      ...(config?.everyMs === undefined ? [] : [updating(config.everyMs)]),
      ...(notifications.hasMailServer ? [noticing] : []),
    ],
  }
}

export type PriceUpdates = ReturnType<typeof createPriceUpdates>

function sourceNotSet(): Problem {
  return new Problem(
    'price_source_not_set',
    'No source of price updates is configured. Set TALLY_PRICES_FROM to an https:// address or a file, or use --from.',
  )
}

/** The rows that the table of a load had. */
function rowsOf({ counts }: LoadRecord): number {
  const { new: added = 0, changed = 0, same_price = 0, overridden = 0, unchanged = 0, older = 0, refused = 0 } = counts
  return added + changed + same_price + overridden + unchanged + older + refused
}
