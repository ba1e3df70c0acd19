/**
 * A divided entry as rows, and as the whole that its session goes on with (docs/design/concepts.md, "Division"). Pure.
 *
 * The entry that was divided keeps its session and the first share; each other part is an entry without a session.
 */
import type { ReportedFigures } from '../../../database/schema/records.ts'
import { isLocked, partOf, readTotals, usageColumns, writeTotals } from '../rows.ts'
import type { EntryRecord, EntryView } from '../store.ts'
import { divideFigures } from './shares.ts'

type Figures = Pick<EntryView, 'entry' | 'model' | 'provider'>

/** The figures of an entry, as they are kept when it is corrected or divided. */
export function figuresOf({ entry, model, provider }: Figures): ReportedFigures {
  const statement = { model, provider: provider ?? undefined, totals: partOf(entry), attributes: undefined }
  const { attributes: _none, ...totals } = writeTotals(statement)
  return { ...totals, list_value: entry.listValue === null ? null : entry.listValue.toString() }
}

/** Whether the entry was divided, and is itself the first of the parts. */
export function isDivided({ amendment }: Pick<EntryRecord, 'amendment'>): boolean {
  return amendment?.whole !== undefined
}

/** Whether the figures of an entry are its share of a division. */
export function isShare({ amendment }: Pick<EntryRecord, 'amendment'>): boolean {
  return amendment?.division !== undefined
}

/** A divided entry with the figures of all of its parts together. */
export function wholeOf<View extends Pick<EntryView, 'entry'>>(view: View): View {
  const { whole } = view.entry.amendment!
  const { totals } = readTotals(whole!)
  const listValue = whole!.list_value === null ? null : BigInt(whole!.list_value)
  return { ...view, entry: { ...view.entry, ...usageColumns(totals), listValue } }
}

/**
 * The whole as a report of its session sees it: once a part is locked, as fixed as if its figures had been corrected, so
 * that further usage becomes a part of the session of its own.
 */
export function sessionPartOf(view: EntryView, others: readonly EntryView[]): EntryView {
  const whole = wholeOf(view)
  if (!others.some(({ entry }) => isLocked(entry))) return whole
  const corrected = [...new Set([...(whole.entry.corrected ?? []), 'figures' as const])]
  return { ...whole, entry: { ...whole.entry, corrected } }
}

/** The rows of a whole, the divided entry first: what does not belong to a part alone is that of the whole. */
export function rowsOf(whole: EntryView, others: readonly EntryView[]): EntryView[] {
  const { entry } = whole
  const totals = partOf(entry)
  const parts = [whole, ...others]
  const weights = parts.map(({ entry: { amendment } }) => BigInt(amendment!.division!.weight))
  const shares = divideFigures({ ...totals, listValue: entry.listValue }, weights)
  return parts.map((part, position) => {
    const { listValue, ...usage } = shares[position]!
    const figures = { ...usageColumns(usage), listValue }
    if (position === 0) {
      return { ...whole, entry: { ...entry, ...figures, amendment: { ...entry.amendment, whole: figuresOf(whole) } } }
    }
    return withShared(part, whole, figures)
  })
}

/** A person may have corrected the summary and labels of one part only. */
function withShared(part: EntryView, whole: EntryView, figures: Partial<EntryRecord>): EntryView {
  const { entry } = whole
  const { corrected, status } = part.entry
  // Rules may decide by them.
  const ofWhole = !corrected?.includes('labels') && !corrected?.includes('summary')
  const isHeld = entry.status === 'held' || entry.status === 'discarded'
  return {
    ...part,
    manager: whole.manager,
    agent: whole.agent,
    model: whole.model,
    provider: whole.provider,
    price: whole.price,
    labels: corrected?.includes('labels') ? part.labels : whole.labels,
    ...(ofWhole && {
      funding: whole.funding,
      fundingPlan: whole.fundingPlan,
      fundingRule: whole.fundingRule,
      fundingRuleVersion: whole.fundingRuleVersion,
    }),
    entry: {
      ...part.entry,
      ...figures,
      status: status === 'submitted' && isHeld ? entry.status : status,
      managerId: entry.managerId,
      managerBy: entry.managerBy,
      startedAt: entry.startedAt,
      endedAt: entry.endedAt,
      source: entry.source,
      superseded: entry.superseded,
      sliceDay: entry.sliceDay,
      slicePlace: entry.slicePlace,
      estimated: entry.estimated,
      agentId: entry.agentId,
      modelId: entry.modelId,
      providerId: entry.providerId,
      priceId: entry.priceId,
      priceStep: entry.priceStep,
      priceNote: entry.priceNote,
      labelSetId: corrected?.includes('labels') ? part.entry.labelSetId : entry.labelSetId,
      summary: corrected?.includes('summary') ? part.entry.summary : entry.summary,
      fundingId: ofWhole ? entry.fundingId : part.entry.fundingId,
      updatedAt: entry.updatedAt,
    },
  }
}

/** The other parts of a further part of a session, in the places that those of the previous one have. */
export function continuedOthers(
  whole: EntryView,
  before: readonly EntryView[],
  next: () => Pick<EntryRecord, 'id' | 'uid'>,
): EntryView[] {
  return before.map((part) => ({
    ...part,
    bill: null,
    entry: {
      ...part.entry,
      ...next(),
      status: whole.entry.status,
      billId: null,
      dividedFromId: whole.entry.id,
      createdAt: whole.entry.createdAt,
      updatedAt: null,
      corrected: null,
      amendment: { division: { ...part.entry.amendment!.division!, of: whole.entry.uid } },
    },
  }))
}
