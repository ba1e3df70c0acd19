/**
 * Correcting what an agent has reported by mistake: the figures of an entry, its times, model and provider. The session
 * goes on from what was reported: what it uses later becomes a further part (docs/design/concepts.md, "Corrections").
 */
import type { Party } from '../../access/actor.ts'
import type { Tx } from '../../database/database.ts'
import type { ReportedFigures } from '../../database/schema/records.ts'
import { type CorrectedField, seesEverything } from '../../database/schema/values.ts'
import { Problem, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AuditService, difference } from '../audit/service.ts'
import { isCorrection } from '../funding/service.ts'
import type { PricesService } from '../prices/service.ts'
import { changedBody, identify } from './changed-report.ts'
import { figuresOf, isShare } from './division/divided.ts'
import { correcting, divided } from './division/problems.ts'
import { recordHistory } from './history/record.ts'
import type { Interned } from './reporting/names.ts'
import { valuationColumns } from './reporting/record.ts'
import { readReport } from './reporting/report.ts'
import { usageColumns } from './rows.ts'
import { type EntryCorrection, FIGURE_FIELDS, type TokenEntry } from './schema.ts'
import { type EntryChange, type EntryRecord, type EntryView, getView, updateEntry } from './store.ts'
import { toTokenEntry } from './wire.ts'

/** Whether the correction is one of figures. Throws 422 if it is and has no reason, or the other way round. */
export function correctsFigures(correction: EntryCorrection): boolean {
  const isOfFigures = FIGURE_FIELDS.some((field) => correction[field] !== undefined)
  if (isOfFigures === (correction.reason !== undefined)) return isOfFigures
  const message = isOfFigures
    ? 'is required: explain the correction to the owner of the entry'
    : 'is only allowed if figures, times, the model or the provider are corrected'
  throw validationFailed([{ pointer: '/reason', code: isOfFigures ? 'required' : 'not_allowed', message }])
}

interface Dependencies {
  clock: Clock
  audit: Pick<AuditService, 'record'>
  prices: Pick<PricesService, 'table'>
  interned: Interned
}

export function createFigureCorrection({ clock, audit, prices, interned }: Dependencies) {
  return {
    /**
     * Corrects an entry that is not locked, and values it by the current prices. Returns it as it is then. Throws `forbidden`,
     * `on_a_sheet` and, for what corrects a plan, `wrong_status` (409), and 422 for what a report could not contain either.
     */
    async correct(
      tx: Tx,
      { id, uid, sheetId, amendment }: EntryRecord,
      { reason, ...correction }: EntryCorrection,
      { person, by }: Party,
    ): Promise<EntryView> {
      requireBooks(person)
      if (sheetId !== null) throw onASheet(uid)
      if (isShare({ amendment })) throw divided(uid)
      if (await isCorrection(tx, id)) throw correcting(uid)
      const now = clock.now()
      const before = await getView(tx, id)
      // A copy, which keeps the digits of money that a number cannot have.
      const changed = { ...correction, project: undefined, ticket: undefined, summary: undefined, labels: undefined }
      const report = readReport(changedBody(before, changed), now)
      const { modelId, providerId } = await identify(tx, interned, report)
      const { model, provider } = report
      const table = await prices.table(tx)
      const figures = {
        modelId,
        providerId,
        startedAt: report.startedAt,
        endedAt: report.endedAt,
        ...usageColumns(report),
        ...valuationColumns({ model, provider, totals: report }, table).columns,
      }
      const named = { entry: { ...before.entry, ...figures }, model, provider: provider ?? null }
      await updateEntry(tx, id, { ...figures, ...amended(before, named), updatedAt: now })
      const after = await getView(tx, id)
      const changes = changesOf(before, after)
      if (Object.keys(changes).length === 0) return before
      await recordHistory(tx, { action: 'corrected', at: now, by }, [{ entryId: id, details: { reason, ...changes } }])
      await audit.record(tx, by, {
        action: 'entry.corrected',
        object: { id: uid, name: uid },
        before: mapValues(changes, ({ from }) => from),
        after: { ...mapValues(changes, ({ to }) => to), reason },
      })
      return after
    },
  }
}

function requireBooks(person: Party['person']): void {
  if (person === null || seesEverything(person.role)) return
  throw new Problem(
    'forbidden',
    'Only a person with the role billing or admin can correct the figures, times, model and provider of an entry. Leads of its project can void it.',
  )
}

function onASheet(uid: string): Problem {
  return new Problem('on_a_sheet', `Entry ${uid} belongs to a token sheet. Change it on its sheet instead.`)
}

function mapValues<From, To>(fields: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value)]))
}

/** What was reported is kept, unless the entry is corrected back to it: then its session goes on as before. */
function amended(before: Figures, after: Figures): Pick<EntryChange, 'amendment' | 'corrected'> {
  const { reported = figuresOf(before), ...others } = before.entry.amendment ?? {}
  const isAsReported = usageText(reported) === usageText(figuresOf(after))
  const amendment = isAsReported ? others : { ...others, reported }
  return {
    amendment: Object.keys(amendment).length > 0 ? amendment : null,
    corrected: withFigures(before.entry.corrected ?? [], !isAsReported),
  }
}

function withFigures(corrected: readonly CorrectedField[], isCorrected: boolean): CorrectedField[] | null {
  const others = corrected.filter((field) => field !== 'figures')
  const fields = isCorrected ? [...others, 'figures' as const].sort() : others
  return fields.length > 0 ? fields : null
}

type Figures = Pick<EntryView, 'entry' | 'model' | 'provider'>

/** Without the list value: prices may have changed since. */
function usageText({ list_value: _value, ...usage }: ReportedFigures): string {
  return JSON.stringify(usage)
}

/** What a correction may change, and the list value that follows from it. */
const SHOWN_FIELDS = [
  ...FIGURE_FIELDS.filter((field) => field !== 'usage'),
  'list_value',
] as const satisfies (keyof TokenEntry)[]

/** The fields that differ, and of the token counts only those that do, as the history shows them. */
function changesOf(before: EntryView, after: EntryView): Record<string, { from: unknown; to: unknown }> {
  const [from, to] = [toTokenEntry(before), toTokenEntry(after)]
  const changed = SHOWN_FIELDS.filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field]))
  const changes = Object.fromEntries(changed.map((field) => [field, { from: from[field], to: to[field] as unknown }]))
  const counts = difference(from.tokens, to.tokens)
  return { ...changes, ...(counts && { tokens: { from: counts.before, to: counts.after } }) }
}
