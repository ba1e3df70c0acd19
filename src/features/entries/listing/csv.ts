/** The columns of an exported list of entries, named as in the JSON. */
import type { LabelMap } from '../../../database/schema/records.ts'
import type { CsvColumn } from '../../../lib/csv-column.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import type { ListedTokenEntry, TokenEntry } from '../schema.ts'

/** Money is written as in JSON: as a raw number, exact at any size. */
function decimal(money: number | null): string | null {
  return money === null ? null : JSON.stringify(money)
}

/** Of labels, or of uses of tools. */
export function labelsText(labels: LabelMap | Record<string, number>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

/** An entry, and the address of its agent manager, which lists of entries do not have. */
export type EntryLine = ListedTokenEntry & { agent_manager_email: string }

/** The heading of the cost names its basis, unless it is the usual one. */
export const entryColumns = (basis: CostBasis): CsvColumn<EntryLine>[] => [
  { heading: 'id', cell: (entry) => entry.id },
  { heading: 'status', cell: (entry) => entry.status },
  { heading: 'source', cell: (entry) => entry.source },
  { heading: 'agent_manager', cell: (entry) => entry.agent_manager.name },
  { heading: 'manager_by', cell: (entry) => entry.manager_by },
  { heading: 'agent_harness', cell: (entry) => entry.agent_harness },
  { heading: 'agent_name', cell: (entry) => entry.agent_name },
  { heading: 'model', cell: (entry) => entry.model },
  { heading: 'provider', cell: (entry) => entry.provider },
  { heading: 'started_at', cell: (entry) => entry.started_at },
  { heading: 'ended_at', cell: (entry) => entry.ended_at },
  { heading: 'input', cell: (entry) => entry.tokens.input },
  { heading: 'output', cell: (entry) => entry.tokens.output },
  { heading: 'cache_read', cell: (entry) => entry.tokens.cache_read },
  { heading: 'cache_write', cell: (entry) => entry.tokens.cache_write },
  { heading: 'cache_write_1h', cell: (entry) => entry.tokens.cache_write_1h },
  { heading: 'total', cell: (entry) => entry.tokens.total },
  { heading: 'requests', cell: (entry) => entry.requests },
  { heading: basis === 'cost' ? 'cost' : `cost (${basis})`, cell: (entry) => decimal(entry.cost) },
  { heading: 'reported_cost', cell: (entry) => decimal(entry.reported_cost) },
  { heading: 'list_value', cell: (entry) => decimal(entry.list_value) },
  { heading: 'price', cell: (entry) => entry.price?.id },
  { heading: 'price_note', cell: (entry) => entry.price?.note },
  { heading: 'project', cell: (entry) => entry.project?.key },
  { heading: 'ticket', cell: (entry) => entry.ticket?.key },
  { heading: 'placed_by', cell: (entry) => entry.placement.by },
  { heading: 'summary', cell: (entry) => entry.summary },
  {
    heading: 'labels',
    cell: (entry) => labelsText(entry.labels),
  },
  { heading: 'session_id', cell: (entry) => entry.session_id },
  { heading: 'part', cell: (entry) => entry.part },
  { heading: 'possible_duplicate_of', cell: (entry) => entry.possible_duplicate_of },
  { heading: 'bill', cell: (entry) => entry.bill?.number },
  { heading: 'sheet', cell: (entry) => entry.sheet?.id },
  { heading: 'created_at', cell: (entry) => entry.created_at },
  { heading: 'cost_mismatch', cell: (entry) => String(entry.cost_mismatch) },
  { heading: 'service_tier', cell: (entry) => entry.service_tier },
  { heading: 'speed', cell: (entry) => entry.speed },
  { heading: 'region', cell: (entry) => entry.region },
  { heading: 'tools', cell: (entry) => entry.tools && labelsText(entry.tools) },
  { heading: 'input_audio', cell: (entry) => entry.tokens.input_audio },
  { heading: 'input_image', cell: (entry) => entry.tokens.input_image },
  { heading: 'output_audio', cell: (entry) => entry.tokens.output_audio },
  { heading: 'output_image', cell: (entry) => entry.tokens.output_image },
  { heading: 'corrected', cell: (entry) => entry.corrected.join(' ') },
  { heading: 'divided_entry', cell: (entry) => entry.division?.entry },
  { heading: 'share', cell: (entry) => entry.division?.share },
  { heading: 'agent_manager_id', cell: (entry) => entry.agent_manager.id },
  { heading: 'agent_manager_email', cell: (entry) => entry.agent_manager_email },
  { heading: 'active_seconds', cell: (entry) => entry.active_seconds },
  { heading: 'slice_day', cell: (entry) => entry.slice?.day },
  { heading: 'estimated', cell: (entry) => entry.slice && String(entry.slice.estimated) },
  { heading: 'funding', cell: (entry) => entry.funding.kind },
  { heading: 'plan', cell: (entry) => entry.funding.plan?.name },
  { heading: 'marginal_cost', cell: (entry) => decimal(entry.marginal_cost) },
  { heading: 'allocated_cost', cell: (entry) => decimal(entry.allocated_cost) },
  { heading: 'fee_share', cell: (entry) => decimal(entry.fee_share) },
  { heading: 'provisional', cell: (entry) => String(entry.provisional) },
]

/** A column for each of the labels with these names, after all others. */
export function labelColumns(names: readonly string[]): CsvColumn<Pick<TokenEntry, 'labels'>>[] {
  return names.map((name) => ({
    heading: `label:${name}`,
    cell: ({ labels }) => (Object.hasOwn(labels, name) ? labels[name] : undefined),
  }))
}
