/** The personal data of one person: its export, erasure and retention. */
import type { Actor } from '../../access/actor.ts'
import { EVERYTHING } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import type { EntriesService } from '../entries/service.ts'
import type { EventsService } from '../events/service.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { userBody } from '../people/schema.ts'
import type { PeopleService } from '../people/service.ts'
import { createErasure } from './erasure/service.ts'
import { csvExport, jsonExport, PERSONAL_DATA_FORMATS, type PersonalDataFormat } from './export.ts'
import { KINDS } from './kinds.ts'
import { type AppliedRetention, createRetention } from './retention/service.ts'

export { type AppliedRetention, PERSONAL_DATA_FORMATS, type PersonalDataFormat }

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: OrganizationService
  people: PeopleService
  notifications: Pick<NotificationsService, 'forget'>
  entries: Pick<EntriesService, 'listing'>
  events: Pick<EventsService, 'removeBefore' | 'countBefore'>
}

export type PersonalDataService = ReturnType<typeof createPersonalDataService>

export function createPersonalDataService({
  db,
  clock,
  audit,
  organization,
  people,
  notifications,
  entries,
  events,
}: Dependencies) {
  const erasure = createErasure({ db, clock, audit, organization, people, notifications })
  const retention = createRetention({ db, clock, audit, organization, events })
  return {
    jobs: [erasure.job, retention.job],
    erasure,
    retention,

    /**
     * Everything that names a person or that they wrote, in pieces that are made as they are read: the caller may be the
     * person or an admin, who get the same. Recorded in the audit log. Throws `not_found`.
     */
    async exportPerson(who: string, format: PersonalDataFormat, by: Actor): Promise<AsyncGenerator<Uint8Array>> {
      const { user, emails } = await people.getFurtherEmails(who)
      const object = { id: user.uid, name: user.email }
      await db.write((tx) => audit.record(tx, by, { action: 'user.exported', object, after: { format } }))
      const exported = {
        at: clock.now(),
        account: userBody(user),
        additionalEmails: emails,
        tables: KINDS.map(({ name, fields, rows }) => ({
          name,
          columns: Object.keys(fields),
          rows: rows(db.slow, user),
        })),
        // Nobody's entries but the person's, whoever may see them otherwise.
        entries: entries.listing.exportFile(
          EVERYTHING,
          { agent_manager: [user.uid] },
          format === 'json' ? 'ndjson' : 'csv',
          // The person would learn what plans cost.
          { seesFees: false },
        ),
      }
      return format === 'json' ? jsonExport(exported) : csvExport(exported)
    },
  }
}
