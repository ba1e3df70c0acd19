/** The prices service with only its dependencies. */
import type { Database } from '../../src/database/database.ts'
import { createOrganizationService } from '../../src/features/organization/service.ts'
import { createPricesService, type PricesService } from '../../src/features/prices/service.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { auditServiceOf } from './audit.ts'

export function pricesServiceOf({ db, clock }: { db: Database; clock: Clock }): PricesService {
  const audit = auditServiceOf({ db, clock })
  return createPricesService({ db, clock, audit, organization: createOrganizationService({ db, audit }) })
}
