/**
 * How much of the limits of their plans people use, as their agents report it with their status: kept by the hour of the
 * server's clock, the highest and the latest use of each hour. Nobody but the person, by their tokens, adds a reading.
 */
import type { Viewer } from '../../access/visibility.ts'
import type { Database, Tx } from '../../database/database.ts'
import { dayAt, spanOf } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { numberText } from '../../lib/exact-json.ts'
import { moneyNumber, NANO_DIGITS, parseDecimal } from '../../lib/money.ts'
import { parseTimestamp } from '../../lib/timestamp.ts'
import { foldEmail } from '../../schema/fields.ts'
import type { OrganizationService } from '../organization/service.ts'
import { byUrgency, projectionOf } from './projection.ts'
import type { LimitsQuery } from './query.ts'
import type { AgentStatusReport, LimitReading, LimitsReport, LimitUse } from './schema.ts'
import {
  deleteOldestLimits,
  deleteReadingsBefore,
  hasReading,
  keyOf,
  type LimitRecord,
  listHighest,
  listLatest,
  listOfHour,
  saveReadings,
} from './store/limits.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A year and the month that it is compared with. */
const KEPT_MS = 400 * DAY_MS

/** More than the agents of a person have, and few enough that nobody fills the table. */
const LIMITS_PER_PERSON = 40

/** What one response lists. */
const LISTED = 200

/** In which two times of the end of a window are the same: vendors calculate it anew for each answer. */
const SAME_RESET_MS = 120_000

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
}

export function createLimits({ db, clock, organization }: Dependencies) {
  return {
    /** Keeps what a machine of the person reports, in the transaction of its status. */
    async record(tx: Tx, userId: number, agents: AgentStatusReport['agents']): Promise<void> {
      const now = clock.now()
      const hour = now - (now % HOUR_MS)
      const read = agents.flatMap(({ agent_harness, limits = [] }) =>
        limits.map((limit) => recordOf(limit, { userId, harness: agent_harness, hour, readAt: now })),
      )
      if (read.length === 0) return
      const known = new Map((await listOfHour(tx, userId, hour)).map((row) => [keyOf(row), row]))
      const changed = new Map<string, LimitRecord>()
      for (const reading of read) {
        const key = keyOf(reading)
        if (changed.size === LIMITS_PER_PERSON && !changed.has(key)) break
        const before = changed.get(key) ?? known.get(key)
        changed.set(key, before ? joined(before, reading) : reading)
      }
      let isNew = false
      for (const [key, row] of changed) isNew ||= !known.has(key) && !(await hasReading(tx, userId, row))
      await saveReadings(tx, [...changed.values()])
      if (isNew) await deleteOldestLimits(tx, userId, LIMITS_PER_PERSON)
    },

    /** The limits of everyone whom the viewer sees in these days of the organization. */
    async report(viewer: Viewer, { days, users, harnesses }: LimitsQuery): Promise<LimitsReport> {
      const { timeZone } = await organization.settings()
      const { startingAt: from, endingAt: until } = spanOf(days, timeZone)
      const filter = { from, until, users: users?.map(foldEmail), harnesses }
      const now = clock.now()
      const latest = (await listLatest(db.slow, viewer, filter))
        .map((each) => ({ ...each, projection: projectionOf(each.reading, now) }))
        .sort(byUrgency)
      const listed = latest.slice(0, LISTED)
      const people = [...new Set(listed.map(({ reading }) => reading.userId))]
      const highest = people.length === 0 ? [] : await listHighest(db.slow, people, filter)
      const hoursOf = Map.groupBy(highest, (row) => `${row.userId} ${keyOf(row)}`)
      return {
        time_zone: timeZone,
        ...days,
        data: listed.map((each) => {
          const hours = hoursOf.get(`${each.reading.userId} ${keyOf(each.reading)}`) ?? []
          return useBody(each, daysOf(hours, timeZone))
        }),
        limits: latest.length,
        left_out: latest.length - listed.length,
      }
    },

    sweep: (tx: Tx): Promise<void> => deleteReadingsBefore(tx, clock.now() - KEPT_MS),
  }
}

function recordOf(limit: LimitReading, of: Pick<LimitRecord, 'userId' | 'harness' | 'hour' | 'readAt'>): LimitRecord {
  const used = Math.round(limit.used_percent * 100)
  const credits =
    limit.credits_left == null
      ? null
      : parseDecimal(numberText(limit as { credits_left: number }, 'credits_left'), NANO_DIGITS)!
  return {
    ...of,
    name: limit.name,
    windowMinutes: limit.window_minutes,
    highest: used,
    used,
    resetsAt: limit.resets_at == null ? null : (parseTimestamp(limit.resets_at) ?? null),
    plan: limit.plan ?? null,
    credits,
  }
}

/**
 * Of one hour. What another machine still knows of a window that has ended is not the latest, and of the same window the
 * one that has seen more knows better.
 */
function joined(before: LimitRecord, reading: LimitRecord): LimitRecord {
  const highest = Math.max(before.highest, reading.highest)
  const laterMs = (reading.resetsAt ?? 0) - (before.resetsAt ?? 0)
  const hasBoth = before.resetsAt !== null && reading.resetsAt !== null
  if (hasBoth && laterMs < -SAME_RESET_MS) return { ...before, highest }
  const isSame = hasBoth && laterMs <= SAME_RESET_MS
  return { ...reading, highest, used: isSame ? Math.max(before.used, reading.used) : reading.used }
}

/** The highest use of each day, in order. */
function daysOf(hours: readonly Pick<LimitRecord, 'hour' | 'highest'>[], timeZone: string): LimitUse['days'] {
  const byDay = Map.groupBy(hours, ({ hour }) => dayAt(hour, timeZone))
  return [...byDay]
    .map(([day, rows]) => ({ day, highest_percent: Math.max(...rows.map(({ highest }) => highest)) / 100 }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

function useBody(
  {
    reading,
    user,
    projection,
  }: Awaited<ReturnType<typeof listLatest>>[number] & { projection: ReturnType<typeof projectionOf> },
  days: LimitUse['days'],
): LimitUse {
  return {
    user: { id: user.uid, name: user.name },
    agent_harness: reading.harness,
    name: reading.name,
    window_minutes: reading.windowMinutes,
    plan: reading.plan,
    latest: {
      used_percent: reading.used / 100,
      read_at: timestamp(reading.readAt),
      resets_at: timestampOrNull(reading.resetsAt),
      credits_left: moneyNumber(reading.credits),
    },
    projection: projection && {
      used_percent: projection.used / 100,
      reaches_limit: projection.reachesLimit,
      reaches_at: timestampOrNull(projection.reachesAt),
    },
    days,
  }
}
