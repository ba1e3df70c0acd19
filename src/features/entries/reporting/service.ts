/** Records reports of agents and telemetry as entries. */

import type { CallerOf } from '../../../access/caller.ts'
import type { Database, Tx } from '../../../database/database.ts'
import type { SessionSource } from '../../../database/schema/values.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { OrganizationService } from '../../organization/service.ts'
import type { PlacementService } from '../../placement/service.ts'
import type { PricesService } from '../../prices/service.ts'
import type { TokenEntryReport } from '../schema.ts'
import { toTokenEntry } from '../wire.ts'
import { type BatchItem, type Reported, reportBatch } from './batch.ts'
import { type Circumstances, type Recorded, type Reporter, recordSingle } from './record.ts'
import { issuesBeyondSchema, issuesOfReport, type Report, readReport } from './report.ts'
import { assignSession, planAssignment } from './session-assignment.ts'
import { recordInSession } from './sessions.ts'
import type { Interned } from './store/names.ts'
import { createTelemetrySessions } from './telemetry-sessions.ts'

export interface ReportingDependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  prices: Pick<PricesService, 'table'>
  placement: PlacementService
  interned: Interned
}

export type ReportingService = ReturnType<typeof createReporting>

export function createReporting({ db, clock, organization, prices, placement, interned }: ReportingDependencies) {
  async function circumstancesFor(tx: Tx, reporter: Reporter): Promise<Circumstances> {
    return {
      now: clock.now(),
      prices: await prices.table(tx),
      placement,
      unknownProjects: (await organization.settings(tx)).unknownProjects,
      reporter,
      interned,
    }
  }

  /**
   * Reads changed prices and rules once here, instead of in every body of the next group commit: data read inside a
   * transaction is cached only after it.
   */
  async function readAhead(): Promise<void> {
    await prices.table(db.read)
    await placement.rules(db.read)
  }

  async function record(
    report: Report,
    source: SessionSource,
    caller: CallerOf<'service' | 'organization'>,
    idempotencyKey: string | undefined,
  ): Promise<Recorded> {
    await readAhead()
    return db.write(async (tx) => {
      const { id, uid, name, email } = caller.person
      const circumstances = await circumstancesFor(tx, {
        manager: { id, uid, name, email },
        managerBy: 'token',
        identifiedBy: caller.kind === 'service' ? 'token' : 'nothing',
        tokenId: caller.token.id,
        personId: id,
      })
      if (report.sessionKey !== undefined) return recordInSession(tx, report, source, circumstances)
      return recordSingle(tx, report, idempotencyKey, circumstances)
    })
  }

  /**
   * Records a checked report body for the creator of the caller's token; durable before it returns. `idempotencyKey` is
   * ignored if the report has a session. Throws `validation_failed`, `idempotency_key_reused` (422) and
   * `session_shrunk` (409).
   */
  async function reportEntry(
    body: TokenEntryReport,
    caller: CallerOf<'service'>,
    idempotencyKey?: string,
  ): Promise<Reported> {
    const { entry, ...recorded } = await record(readReport(body, clock.now()), 'report', caller, idempotencyKey)
    return { ...recorded, entry: toTokenEntry(entry) }
  }

  return {
    circumstancesFor,
    readAhead,
    reportEntry,

    /** Checks and records the items of a batch one by one: see {@link reportBatch}. */
    reportEntries: (
      items: readonly unknown[],
      caller: CallerOf<'service'>,
      idempotencyKey?: string,
    ): Promise<BatchItem[]> => reportBatch(reportEntry, { items, caller, idempotencyKey, now: clock.now }),

    /** Every issue of a report body. */
    issuesOfReport: (body: unknown) => issuesOfReport(body, clock.now()),

    /** Every issue of a report that its schema cannot express. */
    issuesBeyondSchema: (body: unknown) => issuesBeyondSchema(body, clock.now()),

    /** As {@link reportEntry}, for a report derived from telemetry or an agent's own log. */
    recordFrom: (source: SessionSource, report: Report, caller: CallerOf<'service' | 'organization'>) =>
      record(report, source, caller, undefined),

    ...createTelemetrySessions({ circumstancesFor }),
    assignSession,
    planAssignment,
  }
}
