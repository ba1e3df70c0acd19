/** Reports of what is incomplete: entries without a place or a price, and what a month still needs. */
import { Type } from '@sinclair/typebox'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { endpoint } from '../../../operations/operation.ts'
import { exportFormat, listPage } from '../../../operations/parameters.ts'
import { entryFilters } from '../../selection/parameters.ts'
import { COMPLETENESS_COLUMNS, UNPRICED_COLUMNS } from '../csv.ts'
import { EXAMPLE_COMPLETENESS, EXAMPLE_UNPRICED } from '../examples.ts'
import { reportPeriod, timeZone } from '../parameters.ts'
import { CompletenessReport, UnpricedReport } from '../schema.ts'
import { UNATTRIBUTED_COLUMNS } from '../unattributed.ts'
import { EXAMPLE_UNATTRIBUTED, UnattributedReport } from '../unattributed-schema.ts'
import { type Needs, REPORTING, reported } from './shared.ts'

const reportUnattributed = endpoint({
  ...REPORTING,
  id: 'reportUnattributed',
  path: '/reports/unattributed',
  summary: 'Report unattributed entries in groups',
  description:
    'Groups entries by repository if the agent reported one, otherwise by person, harness and agent, highest cost first. `list` is the path of the list of a group’s entries; `POST /token-entries/actions` with the same filters places them. `rule` is a suggested placement rule for the group.',
  query: { ...entryFilters(), ...listPage('Groups') },
  answer: reported('A page of groups.', UnattributedReport, EXAMPLE_UNATTRIBUTED),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readUnattributed(query, asker)
    if (!wantsCsv(served.request, requested.format)) return reports.unattributed(viewer, requested)
    return csvResponse(reports.exportUnattributed(viewer, requested), UNATTRIBUTED_COLUMNS, 'unattributed.csv')
  },
})

const reportUnpriced = endpoint({
  ...REPORTING,
  id: 'reportUnpriced',
  path: '/reports/unpriced',
  summary: 'Report models without a price',
  description:
    'Shows usage without a price, most used model first. `explanation` is the path of the reason. Use `POST /prices`, `/prices/load` or `/price-aliases` to add a price and value these entries.',
  query: { ...entryFilters(), time_zone: timeZone(), ...listPage('Models') },
  answer: reported('A page of models.', UnpricedReport, EXAMPLE_UNPRICED),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readUnpriced(query, asker)
    if (!wantsCsv(served.request, requested.format)) return reports.unpriced(viewer, requested)
    return csvResponse(reports.exportUnpriced(viewer, requested), UNPRICED_COLUMNS, 'unpriced.csv')
  },
})

/** Whose work it is about. What the checks themselves ask for is not left to the caller. */
const OF_WORK = [
  ...(['project', 'ticket', 'client', 'agent_manager', 'agent_name', 'agent_harness'] as const),
  ...(['model', 'provider', 'source', 'session_id', 'label'] as const),
]

const reportCompleteness = endpoint({
  ...REPORTING,
  id: 'reportCompleteness',
  path: '/reports/completeness',
  summary: 'Get the completeness of a period',
  description:
    'Counts the entries of the period that are unattributed, unpriced, unapproved, unbilled, possible duplicates, or extend beyond the period, with their cost. `list` is the path of the list of these entries.',
  query: { ...Type.Pick(Type.Object(entryFilters()), OF_WORK).properties, ...reportPeriod(), ...exportFormat() },
  answer: reported('All checks, including those without findings.', CompletenessReport, EXAMPLE_COMPLETENESS),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readCompleteness(query, asker)
    const report = await reports.completeness(viewer, requested)
    if (!wantsCsv(served.request, requested.format)) return report
    return csvResponse(report.data, COMPLETENESS_COLUMNS, 'completeness.csv')
  },
})

export const incompletenessOperations = [reportUnattributed, reportUnpriced, reportCompleteness] as const
