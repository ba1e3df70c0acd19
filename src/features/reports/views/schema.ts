/** Saved views in the API. */
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { timestamp } from '../../../lib/duration.ts'
import { component, flag, listOf, moment, object, SHOWN, storedFilters, strict, text } from '../../../schema/types.ts'
import { COST_BASES } from '../../../shared/cost-basis.ts'
import type { StoredView } from './store.ts'

export const NAME_LIMIT = 100

const MEASURES = [
  ...['cost', 'list_value', 'billed', 'tokens', 'input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'],
  ...['entries', 'sessions', 'people', 'duration', 'active_seconds'],
]

/** Checked by the schema itself: a stored question is read by pages of any later version. */
const choice = (values: readonly string[], description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  )

/** Names of dimensions, or `label:<name>`. */
const DIMENSION = '^([a-z_]{1,32}|label:[a-z0-9_.-]{1,64})$'
const dimension = (description: string) => Type.Optional(text(description, { pattern: DIMENSION }))

export type ViewParameters = Record<string, string | string[]>

const Parameters = component('ReportViewParameters', 'The question, as in the address of the page Reports.', {
  period: Type.Optional(
    text(
      'A period that moves with the calendar, such as `30d` or `last-month`, or two days as `2026-11-01..2026-11-15`. Default: the last 30 days.',
      { pattern: '^([a-z0-9-]{1,20}|\\d{4}-\\d{2}-\\d{2}\\.\\.\\d{4}-\\d{2}-\\d{2})$' },
    ),
  ),
  measure: Type.Optional(choice(MEASURES, 'Default: `cost`.')),
  basis: Type.Optional(
    choice(
      COST_BASES,
      'What cost is counted by. Default: that of the organization. Who may not see fees cannot open a view by `allocated`.',
    ),
  ),
  by: dimension('What it is grouped by. Default: `project`.'),
  second: dimension('What the groups are divided by.'),
  bucket: Type.Optional(choice(['1h', '1d', '1w', '1mo', '1q', '1y', 'all'], 'Granularity. Default: by the period.')),
  chart: Type.Optional(choice(['stacked', 'bars', 'lines', 'share', 'none'], 'Default: `stacked`.')),
  compare: Type.Optional(choice(['none', 'previous', 'year'], 'The earlier period. Default: `none`.')),
  sort: Type.Optional(
    choice(['value', 'name', 'second', 'earlier', 'change', 'cost', 'tokens', 'entries'], 'Default: `value`.'),
  ),
  order: Type.Optional(choice(['desc', 'asc'], 'Default: `desc`.')),
  ...storedFilters(),
}) as unknown as TUnsafe<ViewParameters>

const changeable = {
  name: text(`At most ${NAME_LIMIT} characters.`, {
    examples: ['Cost by client'],
    [SHOWN]: { minLength: 1, maxLength: NAME_LIMIT, pattern: '\\S' },
  }),
  parameters: Parameters,
  shared: flag(
    'Whether everyone in the organization except viewers sees the view, its name and its filters. Figures are always those that whoever opens it may see.',
  ),
  pinned: flag('Whether it is on the overview of its owner.'),
}

export const NewReportView = component('NewReportView', {
  name: changeable.name,
  parameters: changeable.parameters,
  shared: Type.Optional(changeable.shared),
  pinned: Type.Optional(changeable.pinned),
})
export type NewReportView = Static<typeof NewReportView>

export const ReportViewChange = Type.Partial(Type.Object(changeable), { ...strict, $id: 'ReportViewChange' })
export type ReportViewChange = Static<typeof ReportViewChange>

export const ReportViewBody = component('ReportView', 'A saved view of a report.', {
  id: text('Id of the view (rvw_…).'),
  ...changeable,
  pinned: flag('Whether it is on your overview; only your own views are.'),
  owner: object({ id: Type.String(), name: Type.String() }),
  mine: flag('Whether you are the owner, who alone changes it.'),
  created_at: moment('When it was saved.'),
})
export type ReportViewBody = Static<typeof ReportViewBody>

export const ReportViewList = listOf(ReportViewBody, 'ReportViewList', 'Saved views, newest first.')

export function viewBody({ record, owner }: StoredView, personId: number): ReportViewBody {
  const mine = record.ownerId === personId
  return {
    id: record.uid,
    name: record.name,
    parameters: record.parameters,
    shared: record.shared,
    pinned: mine && record.pinned,
    owner: { id: owner.uid, name: owner.name },
    mine,
    created_at: timestamp(record.createdAt),
  }
}
