/**
 * Counts arrivals and their outcomes in memory, and saves them periodically: ignored records should not cost a
 * transaction, and agents that push at once should not wait for each other's counters.
 */
import type { Database } from '../../database/database.ts'
import type { Outcome } from './accounting.ts'
import type { Observation } from './channels/observation.ts'
import {
  addToChannels,
  addToPushes,
  addToUncounted,
  type ChannelRecord,
  deleteOldest,
  type PushRecord,
  type UncountedRecord,
} from './store/status.ts'

/**
 * Versions change; ignored names are a few hundred; reasons are few except for broken programs. The limits also apply
 * in memory between two saves: one request may contain thousands, which would all be written at once.
 */
const LIMITS = { channels: 500, ignored: 500, rejected: 200 }

type Uncounted = Record<UncountedRecord['kind'], Map<string, UncountedRecord>>

const noneUncounted = (): Uncounted => ({ ignored: new Map(), rejected: new Map() })

export class ArrivalCounters {
  #channels = new Map<string, ChannelRecord>()
  #uncounted = noneUncounted()
  #pushes = new Map<number, PushRecord>()
  #isPending = false

  /** `onPending` is called at the first change after the counters were saved. */
  constructor(
    readonly db: Database,
    readonly onPending: () => void,
  ) {}

  notePush(tokenId: number, records: number, now: number): void {
    this.#pend()
    const push = this.#pushes.get(tokenId) ?? { tokenId, requests: 0, records: 0, lastSeenAt: now }
    this.#pushes.set(tokenId, {
      ...push,
      requests: push.requests + 1,
      records: push.records + records,
      lastSeenAt: now,
    })
  }

  noteOutcome(observation: Observation, outcome: Exclude<Outcome, { rejected: string }>, now: number): void {
    const row = this.#channel(observation, now)
    row[outcome.result] += 1
    if (outcome.result === 'counted') row.tokens += outcome.tokens
  }

  /** Counts a session whose entries could not be updated because locked ones exceed its totals. */
  noteShrunk(observation: Observation, now: number): void {
    this.#channel(observation, now).shrunk += 1
  }

  noteUncounted(kind: UncountedRecord['kind'], counts: ReadonlyMap<string, number>, now: number): void {
    for (const [what, records] of counts) {
      this.#pend()
      const rows = this.#uncounted[kind]
      const known = rows.get(what)
      if (!known && rows.size >= LIMITS[kind]) continue
      rows.set(what, { kind, what, records: (known?.records ?? 0) + records, lastSeenAt: now })
    }
  }

  #pend(): void {
    if (this.#isPending) return
    this.#isPending = true
    this.onPending()
  }

  #channel({ harness, version, channel }: Observation, now: number): ChannelRecord {
    this.#pend()
    const key = JSON.stringify([harness, version ?? '', channel])
    const row = this.#channels.get(key) ?? {
      harness,
      version: version ?? '',
      channel,
      firstSeenAt: now,
      lastSeenAt: now,
      counted: 0,
      repeated: 0,
      late: 0,
      shrunk: 0,
      tokens: 0,
    }
    row.lastSeenAt = now
    if (this.#channels.has(key) || this.#channels.size < LIMITS.channels) this.#channels.set(key, row)
    return row
  }

  /** Counters that can't be written are lost: no bill depends on them. */
  async flush(): Promise<void> {
    const [channels, { ignored, rejected }, pushes] = [this.#channels, this.#uncounted, this.#pushes]
    if (!this.#isPending) return
    this.#isPending = false
    this.#channels = new Map()
    this.#uncounted = noneUncounted()
    this.#pushes = new Map()
    await this.db.write(async (tx) => {
      await addToChannels(tx, inOrder(channels))
      await addToUncounted(tx, [...inOrder(ignored), ...inOrder(rejected)])
      await addToPushes(tx, [...pushes.values()])
      await deleteOldest(tx, LIMITS)
    })
  }
}

/** By key, so that two servers on one PostgreSQL database do not block each other. */
function inOrder<Row>(rows: ReadonlyMap<string, Row>): Row[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
