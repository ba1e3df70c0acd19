/** The audit service with only its dependencies. */
import type { Database } from '../../src/database/database.ts'
import { type AuditService, createAuditService } from '../../src/features/audit/service.ts'
import { createEventsService } from '../../src/features/events/service.ts'
import type { Clock } from '../../src/lib/clock.ts'

export function auditServiceOf({ db, clock }: { db: Database; clock: Clock }): AuditService {
  return createAuditService({ db, clock, events: createEventsService({ db, clock }) })
}
