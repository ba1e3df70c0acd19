/** The people service with only its dependencies. */
import { createAuditService } from '../../src/features/audit/service.ts'
import { createOrganizationService } from '../../src/features/organization/service.ts'
import { createPeopleService, type PeopleDependencies, type PeopleService } from '../../src/features/people/service.ts'

export function peopleServiceOf({ db, ...others }: Omit<PeopleDependencies, 'audit' | 'organization'>): PeopleService {
  const audit = createAuditService({ db, clock: others.clock })
  return createPeopleService({ db, audit, organization: createOrganizationService({ db, audit }), ...others })
}
