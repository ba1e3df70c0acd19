/**
 * Anomalies (docs/design/anomalies.md): a day of the organization, a day of a person or a session that cost far more than
 * is usual, each as an event. They are looked for once a day, over the day before.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { addDays, dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/duration.ts'
import type { Id } from '../../lib/id.ts'
import { Job } from '../../lib/jobs.ts'
import { decimalNumber, divideHalfEven, moneyNumber, type Nanos } from '../../lib/money.ts'
import type { EntriesService } from '../entries/service.ts'
import type { EventsService, NewEvent } from '../events/service.ts'
import { MORNING_MS } from '../notices/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { counted, type OutliersQuery, settledRead } from '../reports/service.ts'
import { listPath } from '../selection/contract.ts'
import { OUTLIERS_TASK, type Outlier } from './outliers.ts'
import type { OutlierSession, OutliersReport } from './schema.ts'
import { ANOMALIES_TASK, countedOn, type Finding } from './search.ts'
import { listPeople, type NamedPerson } from './store.ts'

/** Nobody notices whether an event is some minutes late. A day that was looked at is not looked at again. */
const LOOK_EVERY_MS = 5 * 60_000

interface CommonFields {
  day: string
  costNanos: Nanos
  /** The median of the past. */
  usualNanos: Nanos
  /** In robust standard deviations; null where the past was always the same. */
  score: number | null
}

export type Anomaly = CommonFields &
  (
    | {
        /** The day of the organization. */
        subject: 'day'
        /** The path in the API that lists the entries whose costs add up to `costNanos`. */
        list: string
      }
    | { subject: 'person'; person: NamedPerson; list: string }
    | {
        /** An entry. No list has it alone. */
        subject: 'session'
        person: NamedPerson
        entry: { id: number; uid: Id<'ent'> }
        list: null
      }
  )

interface Dependencies {
  db: Database
  clock: Clock
  events: Pick<EventsService, 'recordOnce' | 'unrecorded'>
  organization: Pick<OrganizationService, 'settings'>
  billing: Pick<EntriesService['billing'], 'settled'>
}

export { outlierColumns } from './csv.ts'
export type AnomaliesService = ReturnType<typeof createAnomaliesService>

export function createAnomaliesService({ db, clock, events, organization, billing }: Dependencies) {
  /** The anomalies of a day in the organization's time zone as its entries are now, the worst first, at most 50. */
  async function anomaliesOf(day: string): Promise<Anomaly[]> {
    const { timeZone } = await organization.settings()
    const findings = await db.slowly(ANOMALIES_TASK, { day, timeZone })
    const people = await listPeople(
      db.read,
      findings.flatMap(({ managerId }) => managerId ?? []),
    )
    return findings.map((finding) => anomalyOf(finding, { day, timeZone, people }))
  }

  /** Looks at the day before today, once it is morning. Days that a server missed are not looked at later. */
  async function look(): Promise<void> {
    const { timeZone } = await organization.settings()
    const day = addDays(dayAt(clock.now() - MORNING_MS, timeZone), -1)
    const key = `anomalies ${day}`
    if ((await events.unrecorded([key])).length === 0) return
    const anomalies = await anomaliesOf(day)
    await db.write((tx) => events.recordOnce(tx, key, anomalies.map(eventOf)))
  }

  return {
    anomaliesOf,

    /** The sessions of a period that cost far more than usual, of what the viewer sees. Throws `database_deadline` (503). */
    async outliers(viewer: Viewer, query: OutliersQuery): Promise<OutliersReport> {
      const { filter, startingAt, endingAt, timeZone, basis } = query
      const { starting_at = startingAt, ending_at = endingAt } = filter
      const period = { starting_at: Math.max(starting_at, startingAt), ending_at: Math.min(ending_at, endingAt) }
      const args = { viewer, filter: { ...counted(filter), ...period }, timeZone, basis }
      const outliers = await settledRead(billing, filter, () => db.slowly(OUTLIERS_TASK, args))
      const data = outliers.map(outlierBody)
      return { starting_at: timestamp(startingAt), ending_at: timestamp(endingAt), time_zone: timeZone, basis, data }
    },

    look,

    jobs: [
      new Job({ name: 'anomalies', task: 'look for anomalies of the day before', everyMs: LOOK_EVERY_MS, run: look }),
    ],
  }
}

interface Circumstances {
  day: string
  timeZone: string
  people: ReadonlyMap<number, NamedPerson>
}

function anomalyOf(
  { managerId, entry, costNanos, usualNanos, score }: Finding,
  { day, timeZone, people }: Circumstances,
): Anomaly {
  const common = { day, costNanos, usualNanos, score }
  const filter = countedOn(day, day, timeZone)
  if (managerId === null) return { subject: 'day', ...common, list: listPath(filter) }
  const person = people.get(managerId)!
  if (entry) return { subject: 'session', ...common, person, entry, list: null }
  return { subject: 'person', ...common, person, list: listPath({ ...filter, agent_manager: [person.uid] }) }
}

function eventOf(anomaly: Anomaly): NewEvent {
  const { subject, day, costNanos, usualNanos, score, list } = anomaly
  const named = subject === 'day' ? null : { id: anomaly.person.uid, name: anomaly.person.name }
  return {
    type: 'usage.anomaly_found',
    managerId: subject === 'day' ? null : anomaly.person.id,
    ...(subject === 'person' && { object: named! }),
    ...(subject === 'session' && { entryId: anomaly.entry.id }),
    after: {
      subject,
      day,
      ...(named && { agent_manager: named }),
      cost: moneyNumber(costNanos),
      usual: moneyNumber(usualNanos),
      score: score === null ? null : Math.round(score * 10) / 10,
      list,
    },
  }
}

function outlierBody({ usualNanos, score, costNanos, ...session }: Outlier): OutlierSession {
  return {
    id: session.uid,
    started_at: timestamp(session.startedAt),
    agent_manager: { id: session.managerUid, name: session.managerName },
    agent_name: session.agent,
    model: session.model,
    project: session.projectKey,
    summary: session.summary,
    cost: moneyNumber(costNanos),
    usual: moneyNumber(usualNanos),
    times: usualNanos === 0n ? null : decimalNumber(divideHalfEven(costNanos * 10n, usualNanos), 1),
    score: score === null ? null : Math.round(score * 10) / 10,
  }
}
