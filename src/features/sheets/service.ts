/**
 * Token sheets: entries that a person makes by hand for a period, and submits as a whole for approval
 * (docs/design/states.md, "Sheets").
 */

import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import type { EntriesService } from '../entries/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { PricesService } from '../prices/service.ts'
import { createDrafts } from './drafts.ts'
import { createReading } from './reading.ts'
import { createSteps } from './steps.ts'

export { TEMPLATE } from './csv.ts'
export { requireDraft, requireDraftChange } from './drafts.ts'
export type SheetsService = ReturnType<typeof createSheetsService>

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record' | 'versions'>
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'findUser' | 'requireKnown'>
  prices: Pick<PricesService, 'table'>
  entries: EntriesService
}

export function createSheetsService(dependencies: Dependencies) {
  const reading = createReading(dependencies)
  const steps = createSteps({ ...dependencies, reading })
  return { ...reading.sheets, ...steps.sheets, ...createDrafts({ ...dependencies, steps }) }
}
