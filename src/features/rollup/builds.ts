/** Builds periods of the roll-up: reads their columns off the main thread, writes them, and puts them in use. */
import type { Database, Tx } from '../../database/database.ts'
import { isOverflow } from '../../database/errors.ts'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Range } from './plan.ts'
import type { StoredColumns } from './segment.ts'
import {
  changePeriods,
  endBuilding,
  finishBuilding,
  insertBuilding,
  insertColumns,
  type NewPeriod,
} from './store/periods.ts'
import { DAY_TASK, MONTH_TASK } from './tasks.ts'

/** Bytes of columns per transaction, about a millisecond: reports that wait for the same commit are not affected. */
const BYTES_PER_WRITE = 500_000

/** A period that could not be built is retried when there may be less load. */
const AFTER_FAILED_BUILDING_MS = 60_000

export interface BuildsOptions {
  db: Database
  clock: Clock
  /** How long a day must be unchanged before it is built: before that, the next entry would make it stale again. */
  quietMs: number
  /** How long a period is not built again, relative to the duration of its last build. */
  restFactor: number
}

export type DayOfZone = Range & { zone: string }

/** Undefined if the period can't be built now. */
type BuiltColumns = StoredColumns[] | undefined

export class Builds {
  readonly #changes: Waits
  readonly #rests: Waits

  constructor(readonly options: BuildsOptions) {
    this.#changes = new Waits(options.clock)
    this.#rests = new Waits(options.clock)
  }

  /** Days are built once nothing has changed in them for a while. */
  noteChanged(days: readonly DayOfZone[]): void {
    for (const day of days) this.#changes.begin({ ...day, level: 'day' }, this.options.quietMs)
  }

  isDue(period: NewPeriod): boolean {
    return this.#changes.isOver(period) && this.#rests.isOver(period)
  }

  /** Builds days, of which one is read while another one is written. */
  async buildDays(days: readonly DayOfZone[]): Promise<void> {
    const { db } = this.options
    let reading: Promise<unknown> = Promise.resolve()
    const builds = days.map(async (day) => {
      const period: NewPeriod = { ...day, level: 'day' }
      await this.#build(period, () => {
        const columns = reading.then(() => db.slowly(DAY_TASK, { from: day.from, to: day.to }))
        reading = columns.catch(() => {})
        return columns
      })
      this.#changes.end(period)
    })
    for (const build of await Promise.allSettled(builds)) if (build.status === 'rejected') throw build.reason
  }

  async buildMonth(month: NewPeriod): Promise<void> {
    const { zone, from, to } = month
    await this.#build(month, () => this.options.db.slowly(MONTH_TASK, { zone, from, to }))
  }

  /** Builds a period, and lets it rest afterwards: one that changes constantly takes only a small part of a core. */
  async #build(period: NewPeriod, read: () => Promise<BuiltColumns>): Promise<void> {
    const startedAt = performance.now()
    let restMs = AFTER_FAILED_BUILDING_MS
    try {
      await this.#replace(period, read)
      restMs = (performance.now() - startedAt) * this.options.restFactor
    } catch (error) {
      if (!isTransient(error)) throw error
    } finally {
      // Whatever failed, other periods are built before it is tried again.
      this.#rests.begin(period, restMs)
    }
  }

  /**
   * Replaces a period. `read` returns the columns of one state of the database, after the build has begun: what changes
   * from then on ends it.
   */
  async #replace(period: NewPeriod, read: () => Promise<BuiltColumns>): Promise<void> {
    const { db, clock } = this.options
    const id = await changePeriods(db, (tx) => insertBuilding(tx, period, clock.now()))
    let isFinished = false
    try {
      const columns = await read()
      if (!columns) return
      for (const portion of portionsOf(columns)) await db.write((tx: Tx) => insertColumns(tx, id, portion))
      isFinished = await changePeriods(db, (tx) => finishBuilding(tx, id, period))
    } finally {
      if (!isFinished) await changePeriods(db, (tx) => endBuilding(tx, id))
    }
  }
}

/** Whether it may succeed later, or concerns only entries whose sums have no place in 64 bits. */
function isTransient(error: unknown): boolean {
  return (error instanceof Problem && TRANSIENT.has(error.code)) || isOverflow(error)
}

const TRANSIENT: ReadonlySet<string> = new Set(['database_deadline', 'overloaded'])

/** When periods may be built. */
class Waits {
  readonly #waits = new Map<string, { from: number; until: number }>()

  constructor(readonly clock: Clock) {}

  begin(period: NewPeriod, ms: number): void {
    const from = this.clock.now()
    this.#waits.set(nameOf(period), { from, until: from + ms })
  }

  end(period: NewPeriod): void {
    this.#waits.delete(nameOf(period))
  }

  /** A clock that was set back must not prolong a wait. */
  isOver(period: NewPeriod): boolean {
    const wait = this.#waits.get(nameOf(period))
    const now = this.clock.now()
    return wait === undefined || now >= wait.until || now < wait.from
  }
}

function nameOf({ zone, level, from }: NewPeriod): string {
  return `${zone} ${level} ${from}`
}

/** The columns in portions of about {@link BYTES_PER_WRITE}. */
function portionsOf(columns: readonly StoredColumns[]): StoredColumns[][] {
  const portions: StoredColumns[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const column of columns) {
    if (bytes + column.data.byteLength > BYTES_PER_WRITE) {
      portions.push([])
      bytes = 0
    }
    portions.at(-1)!.push(column)
    bytes += column.data.byteLength
  }
  return portions
}
