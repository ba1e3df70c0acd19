/**
 * Sessions of a period that cost far more than usual, by the definition of anomalies, for somebody who sees some entries
 * only: a session is compared with what they see of the same person.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Reader, SlowTask } from '../../database/database.ts'
import { firstIndex } from '../../lib/binary-search.ts'
import { addDays, dayAt, startOfDay } from '../../lib/calendar.ts'
import type { Nanos } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { type EntryCost, readCosts } from '../rollup/service.ts'
import type { EntryFilter } from '../selection/contract.ts'
import { type DayCosts, hasPast, pastDays } from './days.ts'
import {
  countedOn,
  type Finding,
  PAST_SESSIONS_LIMIT,
  SESSION_MINIMUM,
  SESSIONS_PER_PERSON,
  sessionExcesses,
} from './search.ts'
import { type CostlySession, listCostlySessions, listPastCosts } from './store.ts'

export interface OutliersArgs {
  viewer: Viewer
  /** With the period. */
  filter: EntryFilter
  timeZone: string
  basis: CostBasis
}

/** The sessions with the highest costs that are compared with their past: more than anybody looks into. */
const COMPARED_LIMIT = 100

type SessionOfDay = CostlySession & { day: string }

/** An entry far above the usual amount of its person. */
export type Outlier = CostlySession & Pick<Finding, 'usualNanos' | 'score'>

/** Those furthest above the usual amount first. */
export const OUTLIERS_TASK: SlowTask<OutliersArgs, Outlier[]> = {
  name: 'anomalies.outliers',
  async run(reader, { viewer, filter, timeZone, basis }) {
    const query = { viewer, filter, basis, minimumNanos: SESSION_MINIMUM, limit: COMPARED_LIMIT }
    const found = await listCostlySessions(reader, query)
    const costly = found.map((session) => ({ ...session, day: dayAt(session.startedAt, timeZone) }))
    const highest = costly.filter((session) => !costly.some((other) => precedes(other, session)))
    const byDay = Map.groupBy(highest, ({ managerId, day }) => `${managerId} ${day}`)
    const pastCosts = await pastCostsOf(reader, { viewer, timeZone, basis }, highest)
    const outliers: Outlier[] = []
    for (const sessions of byDay.values()) {
      const past = await pastOf(pastCosts, sessions[0]!, timeZone)
      const findings = past && sessionExcesses(sessions.slice(0, SESSIONS_PER_PERSON), past)
      for (const { entry, usualNanos, score } of findings ?? []) {
        outliers.push({ ...sessions.find(({ id }) => id === entry!.id)!, usualNanos, score })
      }
    }
    return outliers.sort(furthestFirst)
  },
}

/**
 * Whether a session is part of another one's past and cost at least as much, so that the other is not an outlier. All
 * costlier sessions of the period are known: most pasts, each of which is thousands of sessions, are not read at all.
 */
function precedes(session: SessionOfDay, other: SessionOfDay): boolean {
  return (
    session.managerId === other.managerId &&
    session.costNanos >= other.costNanos &&
    session.day < other.day &&
    session.day >= pastDays(other.day)[0]!
  )
}

function furthestFirst(one: Outlier, other: Outlier): number {
  const difference = other.costNanos - other.usualNanos - (one.costNanos - one.usualNanos)
  return difference < 0n ? -1 : difference > 0n ? 1 : one.id - other.id
}

/** The last costs of a person before a day, no more than are compared. */
type PastCosts = (managerId: number, day: string) => EntryCost[] | Promise<EntryCost[]>

/** Of all people at once from columns, or of one after the other from their entries. */
async function pastCostsOf(
  reader: Reader,
  { viewer, timeZone, basis }: Omit<OutliersArgs, 'filter'>,
  sessions: readonly SessionOfDay[],
): Promise<PastCosts> {
  const days = sessions.map(({ day }) => day).sort()
  if (days.length === 0) return () => []
  const costs = await readCosts(reader, {
    viewer,
    filter: countedOn(pastDays(days[0]!)[0]!, addDays(days.at(-1)!, -1), timeZone),
    managerIds: new Set(sessions.map(({ managerId }) => managerId)),
    basis,
  })
  if (costs) {
    return (managerId, day) => {
      const ofPerson = costs.get(managerId)!
      const firstFrom = (moment: number) => firstIndex(ofPerson.length, (at) => ofPerson[at]!.startedAt >= moment)
      const end = firstFrom(startOfDay(day, timeZone))
      return ofPerson.slice(
        Math.max(firstFrom(startOfDay(pastDays(day)[0]!, timeZone)), end - PAST_SESSIONS_LIMIT),
        end,
      )
    }
  }
  return (managerId, day) => {
    const filter = countedOn(pastDays(day)[0]!, addDays(day, -1), timeZone)
    return listPastCosts(reader, managerId, { viewer, filter, basis, limit: PAST_SESSIONS_LIMIT })
  }
}

/** What the sessions of a person cost before a day; undefined if there was usage on too few days. */
async function pastOf(
  pastCosts: PastCosts,
  { managerId, day }: SessionOfDay,
  timeZone: string,
): Promise<Nanos[] | undefined> {
  const past = await pastCosts(managerId, day)
  // Of somebody with so many sessions the rest of the past is not read.
  const isEnough = past.length === PAST_SESSIONS_LIMIT || hasPast(day, costsOfDays(past, { day, timeZone }))
  return isEnough ? past.map(({ costNanos }) => costNanos) : undefined
}

/** A cost of each past day with usage. To look up the day of each session in the calendar would take longer than to read it. */
function costsOfDays(past: readonly EntryCost[], { day, timeZone }: { day: string; timeZone: string }): DayCosts {
  const days = pastDays(day)
  const starts = days.map((each) => startOfDay(each, timeZone))
  return new Map(
    past.map(({ startedAt, costNanos }) => [
      days[firstIndex(starts.length, (at) => starts[at]! > startedAt) - 1]!,
      costNanos,
    ]),
  )
}
