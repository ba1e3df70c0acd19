/** The people service with only its dependencies, and by default a cheap hash of passwords. */

import { createOrganizationService } from '../../src/features/organization/service.ts'
import { createPeopleService, type PeopleDependencies, type PeopleService } from '../../src/features/people/service.ts'
import { auditServiceOf } from './audit.ts'
import { cheapHasher } from './cheap-hasher.ts'

export function peopleServiceOf({ db, ...others }: Omit<PeopleDependencies, 'audit' | 'organization'>): PeopleService {
  const audit = auditServiceOf({ db, clock: others.clock })
  return createPeopleService({
    db,
    audit,
    organization: createOrganizationService({ db, audit }),
    hasher: cheapHasher,
    ...others,
  })
}
