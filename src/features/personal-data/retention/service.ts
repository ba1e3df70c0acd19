/** Retention (docs/design/privacy.md): what is older than its period is removed, in portions, once a day. */
import { type Actor, TALLY } from '../../../access/actor.ts'
import type { Database } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import { monthsBefore } from '../../../lib/calendar.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Job } from '../../../lib/jobs.ts'
import type { AuditService } from '../../audit/service.ts'
import type { EventsService } from '../../events/service.ts'
import type { Organization, OrganizationService } from '../../organization/service.ts'
import {
  auditLog,
  countDue,
  type Due,
  eachPortion,
  emptyLabelSets,
  endedSignIns,
  entryTexts,
  history,
  historyTexts,
  listRetiredLabelSets,
  listUnusedLabelSets,
  retireLabelSets,
  sessionIds,
  sourceTexts,
  telemetryTexts,
} from './store.ts'

const DAY_MS = 86_400_000

/** Longer than any transaction of a report takes. */
const RETIRED_MS = 600_000

/** Each period, under the name of its setting, and what it removes. The first of them is what the counts show. */
const KINDS = {
  texts: { months: 'retentionTexts', due: [entryTexts, sourceTexts, telemetryTexts, historyTexts] },
  session_ids: { months: 'retentionSessionIds', due: [sessionIds] },
  history: { months: 'retentionHistory', due: [history] },
  audit: { months: 'retentionAudit', due: [auditLog, endedSignIns] },
  // Removed from the oldest on, so that readers can tell what they have missed.
  events: { months: 'retentionEvents', due: [] },
} as const satisfies Record<string, { months: keyof Organization; due: ((before: number) => Due)[] }>

export type RetentionKind = keyof typeof KINDS

const RETENTION_KINDS = Object.keys(KINDS) as RetentionKind[]

export interface AppliedRetention {
  kind: RetentionKind
  months: number
  /** Everything before this moment is removed. */
  before: number
  /** Entries without texts, hashed session ids, or removed records. */
  rows: number
}

export interface RetentionDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: OrganizationService
  events: Pick<EventsService, 'removeBefore' | 'countBefore'>
}

export function createRetention({ db, clock, audit, organization, events }: RetentionDependencies) {
  async function periods(): Promise<Omit<AppliedRetention, 'rows'>[]> {
    const settings = await organization.settings()
    return RETENTION_KINDS.flatMap((kind) => {
      const months = settings[KINDS[kind].months]
      if (months === null) return []
      return [{ kind, months, before: monthsBefore(clock.now(), months, settings.timeZone) }]
    })
  }

  async function remove(due: Due): Promise<number> {
    let rows = 0
    for await (const keys of eachPortion(db.slow, due)) rows += await db.write((tx) => due.change(tx, keys))
    return rows
  }

  /** Labels that no entry has any more. On SQLite, nobody can have begun a report before. */
  async function removeUnusedLabels(): Promise<void> {
    for (const ids of portionsOf(await listUnusedLabelSets(db.slow))) {
      await db.write(async (tx) => {
        if ((await retireLabelSets(tx, ids, clock.now())) > 0) await organization.textsChanged(tx)
      })
    }
    const before = db.engine === 'sqlite' ? clock.now() : clock.now() - RETIRED_MS
    for (const ids of portionsOf(await listRetiredLabelSets(db.slow, before))) {
      await db.write((tx) => emptyLabelSets(tx, ids))
    }
  }

  async function apply(by: Actor): Promise<AppliedRetention[]> {
    const applied: AppliedRetention[] = []
    for (const period of await periods()) {
      const [first, ...others]: readonly ((before: number) => Due)[] = KINDS[period.kind].due
      const rows = first ? await remove(first(period.before)) : await events.removeBefore(period.before)
      for (const due of others) await remove(due(period.before))
      if (period.kind === 'texts') await removeUnusedLabels()
      applied.push({ ...period, rows })
    }
    // What events reported is in the history and the audit log.
    const done = applied.filter(({ kind, rows }) => rows > 0 && kind !== 'events')
    if (done.length > 0) {
      const after = Object.fromEntries(done.map(({ kind, rows }) => [kind, rows]))
      await db.write((tx) => audit.record(tx, by, { action: 'retention.applied', after }))
    }
    return applied
  }

  return {
    /** What is due; empty if no period is set. */
    async plan(): Promise<AppliedRetention[]> {
      const planned: AppliedRetention[] = []
      for (const period of await periods()) {
        const [first]: readonly ((before: number) => Due)[] = KINDS[period.kind].due
        const rows = first ? await countDue(db.slow, first(period.before)) : await events.countBefore(period.before)
        planned.push({ ...period, rows })
      }
      return planned
    },

    /** Removes what is due; what an interrupted run left, the next one removes. */
    apply,

    job: new Job({
      name: 'retention',
      task: 'remove what is older than its retention period',
      everyMs: DAY_MS,
      run: () => apply(TALLY),
    }),
  }
}
