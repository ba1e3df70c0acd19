/**
 * Sessions of a period that cost far more than usual, by the definition of anomalies, for somebody who sees some entries
 * only: a session is compared with what they see of the same person.
 */
import type { Viewer } from '../../access/visibility.ts'
import type { Reader, SlowTask } from '../../database/database.ts'
import { addDays, dayAt } from '../../lib/calendar.ts'
import type { Nanos } from '../../lib/money.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'
import { hasPast, pastDays } from './days.ts'
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
}

/** The sessions with the highest costs that are compared with their past: more than anybody looks into. */
const COMPARED_LIMIT = 100

/** An entry far above the usual amount of its person. */
export type Outlier = CostlySession & Pick<Finding, 'usualNanos' | 'score'>

/** Those furthest above the usual amount first. */
export const OUTLIERS_TASK: SlowTask<OutliersArgs, Outlier[]> = {
  name: 'anomalies.outliers',
  async run(reader, { viewer, filter, timeZone }) {
    const query = { viewer, filter, minimumNanos: SESSION_MINIMUM, limit: COMPARED_LIMIT }
    const costly = await listCostlySessions(reader, query)
    const byDay = Map.groupBy(costly, ({ managerId, startedAt }) => `${managerId} ${dayAt(startedAt, timeZone)}`)
    const outliers: Outlier[] = []
    for (const sessions of byDay.values()) {
      const { managerId, startedAt } = sessions[0]!
      const past = await pastOf(reader, { viewer, timeZone, managerId, day: dayAt(startedAt, timeZone) })
      const findings = past && sessionExcesses(sessions.slice(0, SESSIONS_PER_PERSON), past)
      for (const { entry, usualNanos, score } of findings ?? []) {
        outliers.push({ ...sessions.find(({ id }) => id === entry!.id)!, usualNanos, score })
      }
    }
    return outliers.sort(furthestFirst)
  },
}

function furthestFirst(one: Outlier, other: Outlier): number {
  const difference = other.costNanos - other.usualNanos - (one.costNanos - one.usualNanos)
  return difference < 0n ? -1 : difference > 0n ? 1 : one.id - other.id
}

/** What the sessions of a person cost before a day; undefined if there was usage on too few days. */
async function pastOf(
  reader: Reader,
  { viewer, timeZone, managerId, day }: Pick<OutliersArgs, 'viewer' | 'timeZone'> & { managerId: number; day: string },
): Promise<Nanos[] | undefined> {
  const filter = countedOn(pastDays(day)[0]!, addDays(day, -1), timeZone)
  const past = await listPastCosts(reader, managerId, { viewer, filter, limit: PAST_SESSIONS_LIMIT })
  const days = new Map(past.map(({ startedAt, costNanos }) => [dayAt(startedAt, timeZone), costNanos]))
  // Of somebody with so many sessions the rest of the past is not read.
  const isEnough = past.length === PAST_SESSIONS_LIMIT || hasPast(day, days)
  return isEnough ? past.map(({ costNanos }) => costNanos) : undefined
}
