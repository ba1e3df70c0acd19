/**
 * Token entries, by purpose:
 *
 * - `reporting` records reports and telemetry, `sheetEntries` entries made by hand on a token sheet;
 * - `listing` reads them;
 * - `places` moves them between projects and tickets, by hand, by rules and with their work;
 * - `division` divides them between projects and tickets;
 * - `approval` handles decisions about them;
 * - `corrections` adds and voids those that correct closed periods of plans;
 * - `valuation` recalculates their list values;
 * - `funding` decides again how they are paid for;
 * - `billing` freezes them on a bill, and releases them when it is voided, the many of a large bill in portions.
 */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import type { FundingService } from '../funding/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PlacementService } from '../placement/service.ts'
import type { PricesService } from '../prices/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import type { SpendingService } from '../spending/service.ts'
import { createApproval } from './approval/service.ts'
import { freezeEntries } from './billing/freeze.ts'
import { createLeases } from './billing/lease.ts'
import { releaseEntries } from './billing/release.ts'
import { createCorrections } from './corrections/service.ts'
import { createDivision } from './division/service.ts'
import { createFundingRedecision } from './funding/redecision.ts'
import { findInconsistentEntries } from './integrity/integrity.ts'
import { createListing } from './listing/service.ts'
import { createManualPlacement } from './places/manual-placement.ts'
import { createProposalTest } from './places/proposal-test.ts'
import { createRelocation } from './places/relocation.ts'
import { createRuleApplication } from './places/rule-application.ts'
import { createRuleTest } from './places/rule-test.ts'
import { Interned } from './reporting/names.ts'
import { createReporting } from './reporting/service.ts'
import { createSheetEntries } from './sheet-entries/service.ts'
import { createRepricing } from './valuation/repricing.ts'

export type EntriesService = ReturnType<typeof createEntriesService>

export interface EntriesDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
  prices: Pick<PricesService, 'table'>
  projects: ProjectsService
  placement: PlacementService
  funding: FundingService
  spending: Pick<SpendingService, 'terms' | 'record'>
}

export function createEntriesService(dependencies: EntriesDependencies) {
  const { db } = dependencies
  const interned = new Interned(dependencies.organization)
  const funding = createFundingRedecision({ ...dependencies, interned })
  const { decideAgain } = funding
  const shared = { ...dependencies, interned, decideAgain }
  const reporting = createReporting(shared)
  const leases = createLeases(dependencies)
  const valuation = createRepricing(dependencies)
  return {
    jobs: [valuation.job, funding.job, leases.job],
    reporting,
    sheetEntries: createSheetEntries({ ...shared, ...funding, reporting }),
    listing: createListing({ ...dependencies, billing: leases }),
    places: {
      ...createManualPlacement(shared),
      ...createRuleApplication(dependencies),
      ...createRuleTest(dependencies),
      ...createProposalTest(dependencies),
      ...createRelocation(dependencies),
    },
    division: createDivision(dependencies),
    approval: createApproval(shared),
    corrections: createCorrections(shared),
    valuation,
    funding,
    billing: { ...leases, freezeEntries, releaseEntries },

    /** One sentence for each inconsistency between entries, their sessions, sheets and bills, and for what is owed. */
    verify: async () => [
      ...(await findInconsistentEntries(db.slow)),
      ...(await valuation.verifyOwed()),
      ...(await funding.verifyOwed()),
    ],
  }
}
