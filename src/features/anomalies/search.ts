/** Looks for anomalies of a day, in one state of the database. */

import { EVERYTHING } from '../../access/visibility.ts'
import type { Reader, SlowTask } from '../../database/database.ts'
import { addDays, spanOf, startOfDay } from '../../lib/calendar.ts'
import type { Id } from '../../lib/id.ts'
import type { Nanos } from '../../lib/money.ts'
import { COUNTED_STATUSES } from '../reports/service.ts'
import { exactAt, sumColumns } from '../rollup/service.ts'
import type { EntryFilter } from '../selection/contract.ts'
import { comparedCosts, type DayCosts, hasPast, pastDays } from './days.ts'
import { type Excess, excessOf } from './score.ts'
import { type CostlyEntry, listCostly, listPastCosts } from './store.ts'

const DOLLAR: Nanos = 1_000_000_000n

/**
 * How far above the usual amount an anomaly is at least: what somebody would look into. A session is the part of a
 * day that can be looked into at once; a day of the organization is that of many people, whose chance differences add up.
 */
export const SESSION_MINIMUM = 10n * DOLLAR
const PERSON_MINIMUM = 20n * DOLLAR
const ORGANIZATION_MINIMUM = 50n * DOLLAR

/** More than anybody reads on one day. */
const FOUND_LIMIT = 50

/** Of somebody with many sessions that are out of the ordinary, the day is the anomaly. */
export const SESSIONS_PER_PERSON = 3

/** The sessions of a day that are compared with their past, which is read for each of their people. */
const SESSIONS_LIMIT = 100

/** Of a person who has more sessions in four weeks, the last ones: a median needs no more, and memory stays bounded. */
export const PAST_SESSIONS_LIMIT = 5_000

/** An amount that is far above the usual one. */
export interface Finding extends Excess {
  costNanos: Nanos
  /** Null for the day of the organization. */
  managerId: number | null
  /** The session; null for a day. */
  entry: { id: number; uid: Id<'ent'> } | null
}

export interface SearchArgs {
  day: string
  timeZone: string
}

/** The worst first: those with the most money above the usual amount. */
export const ANOMALIES_TASK: SlowTask<SearchArgs, Finding[]> = {
  name: 'anomalies.search',
  // Reads four weeks of sums, and once a day nobody waits for it.
  deadlineMs: 60_000,
  async run(reader, { day, timeZone }) {
    const costs = await costsByPerson(reader, day, timeZone)
    const findings = [
      ...dayFindings(null, day, totalOf(costs), ORGANIZATION_MINIMUM),
      ...[...costs].flatMap(([managerId, ofPerson]) => dayFindings(managerId, day, ofPerson, PERSON_MINIMUM)),
      ...(await sessionFindings(reader, day, timeZone, costs)),
    ]
    return findings.sort(byExcess).slice(0, FOUND_LIMIT)
  },
}

function byExcess(one: Finding, other: Finding): number {
  const difference = other.costNanos - other.usualNanos - (one.costNanos - one.usualNanos)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** The entries that count, from the first to the last day: what is compared is also what is listed. */
export function countedOn(from: string, to: string, timeZone: string): EntryFilter {
  const { startingAt, endingAt } = spanOf({ from, to }, timeZone)
  return { starting_at: startingAt, ending_at: endingAt, status: [...COUNTED_STATUSES], superseded: false }
}

/** What each person used in four weeks and on the day after them. */
async function costsByPerson(reader: Reader, day: string, timeZone: string): Promise<Map<number, Map<string, Nanos>>> {
  const days = [...pastDays(day), day]
  const sums = await sumColumns(reader, {
    viewer: EVERYTHING,
    filter: countedOn(days[0]!, day, timeZone),
    groupings: [{ key: 'managerId' }],
    figures: ['cost'],
    bounds: [...days, addDays(day, 1)].map((each) => startOfDay(each, timeZone)),
    onlyStraddling: false,
  })
  const costs = new Map<number, Map<string, Nanos>>()
  for (let row = 0; row < sums.length; row += 1) {
    const cost = exactAt(sums.figures[0]!, row)
    if (cost === null) continue
    const managerId = sums.keys[0]![row]!
    const ofPerson = costs.get(managerId) ?? new Map<string, Nanos>()
    costs.set(managerId, ofPerson.set(days[sums.buckets[row]!]!, cost))
  }
  return costs
}

function totalOf(costs: ReadonlyMap<number, DayCosts>): DayCosts {
  const total = new Map<string, Nanos>()
  for (const ofPerson of costs.values()) {
    for (const [day, cost] of ofPerson) total.set(day, (total.get(day) ?? 0n) + cost)
  }
  return total
}

function dayFindings(managerId: number | null, day: string, costs: DayCosts, minimum: Nanos): Finding[] {
  const costNanos = costs.get(day)
  if (costNanos === undefined) return []
  const excess = excessOf(costNanos, comparedCosts(day, costs), minimum)
  return excess ? [{ ...excess, costNanos, managerId, entry: null }] : []
}

async function sessionFindings(
  reader: Reader,
  day: string,
  timeZone: string,
  costs: ReadonlyMap<number, DayCosts>,
): Promise<Finding[]> {
  const costly = await listCostly(reader, {
    filter: countedOn(day, day, timeZone),
    minimumNanos: SESSION_MINIMUM,
    perPerson: SESSIONS_PER_PERSON,
    limit: SESSIONS_LIMIT,
  })
  const past = {
    viewer: EVERYTHING,
    filter: countedOn(pastDays(day)[0]!, addDays(day, -1), timeZone),
    basis: 'cost' as const,
    limit: PAST_SESSIONS_LIMIT,
  }
  const findings: Finding[] = []
  for (const [managerId, sessions] of Map.groupBy(costly, (session) => session.managerId)) {
    if (!hasPast(day, costs.get(managerId)!)) continue
    const pastCosts = await listPastCosts(reader, managerId, past)
    findings.push(
      ...sessionExcesses(
        sessions,
        pastCosts.map(({ costNanos }) => costNanos),
      ),
    )
  }
  return findings
}

/**
 * Sessions differ by orders of magnitude, so that many of anybody's are outliers by their score alone: an anomaly also
 * cost more than any other of the past.
 */
export function sessionExcesses(sessions: readonly CostlyEntry[], past: readonly Nanos[]): Finding[] {
  return sessions.flatMap(({ id, uid, managerId, costNanos }) => {
    const isHighest = past.every((cost) => cost < costNanos)
    const excess = isHighest ? excessOf(costNanos, past, SESSION_MINIMUM) : undefined
    return excess ? [{ ...excess, costNanos, managerId, entry: { id, uid } }] : []
  })
}
