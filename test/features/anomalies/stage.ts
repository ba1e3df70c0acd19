/** Services with the usage of four weeks, on a clock that tests set. */
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { EventReader } from '../../../src/features/events/service.ts'
import { createServices } from '../../../src/services.ts'
import type { Open } from '../../support/databases.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

/** A Tuesday at noon. */
export const NOW = Date.UTC(2026, 10, 24, 12)
export const DAY_MS = 86_400_000

/** The Mondays to Fridays of the four weeks before Monday, 23 November. */
export const WORKING_DAYS = Array.from({ length: 28 }, (_, at) =>
  new Date(Date.UTC(2026, 9, 26) + at * DAY_MS).toISOString().slice(0, 10),
).filter((day) => ![0, 6].includes(new Date(day).getUTCDay()))

const ADMIN: EventReader = { viewer: EVERYTHING, isAdmin: true }

export async function stage(open: Open) {
  const db = await open()
  const time = { now: NOW }
  const clock = { now: () => time.now }
  const servicesOf = (shared: Database) => createServices({ db: shared, clock })
  const services = servicesOf(db)
  const ada = await addReporter(services.people)
  const { uid: adaId } = await services.people.getUser('ada@example.com')

  /** An entry of a cost in dollars, at a time of the day in UTC or at a moment. */
  const report = async (
    at: string,
    cost: number | null,
    { caller = ada, ...changes }: { caller?: CallerOf<'service'> } & Record<string, unknown> = {},
  ) => {
    const startedAt = at.length === 10 ? `${at}T10:00:00Z` : at
    const json = reportBody({
      started_at: startedAt,
      ended_at: startedAt,
      session_id: crypto.randomUUID(),
      ...(cost === null ? { model: 'no-such-model' } : { reported_cost: cost }),
      ...changes,
    })
    return (await services.entries.reporting.reportEntry(json, caller)).entry.id
  }

  return {
    db,
    clock,
    time,
    services,
    adaId,
    report,
    elsewhere: async () => servicesOf(await open({ sharing: db })),
    addPerson: (name: string) => addReporter(services.people, { name, role: 'member' }),

    /** Between 20 and 24 dollars on each day, in sessions of half of it. */
    async reportUsual(days: readonly string[] = WORKING_DAYS, caller = ada) {
      for (const [at, day] of days.entries()) {
        for (let session = 0; session < 2; session += 1) await report(day, 10 + (at % 5) / 2, { caller })
      }
    },

    /** Sessions of a day that cost what is usual. */
    async reportMany(day: string, sessions: number, caller = ada) {
      for (let at = 0; at < sessions; at += 1) await report(day, 10, { caller })
    },

    /** The events as somebody reads them. */
    async found(who: EventReader = ADMIN) {
      const { views } = await services.events.readFull(who, { after: 0, types: ['usage.anomaly_found'], limit: 1_000 })
      return views.map(({ object, entry, details }) => ({
        object,
        entry: entry?.uid as string | undefined,
        after: JSON.parse(JSON.stringify(details?.after)),
      }))
    },

    setZone: (timeZone: string) => services.organization.changeSettings({ timeZone }, TALLY),
  }
}
