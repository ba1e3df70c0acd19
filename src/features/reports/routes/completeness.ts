import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { listPage } from '../../../operations/parameters.ts'
import { entryFilters } from '../../selection/parameters.ts'
import { COMPLETENESS_COLUMNS } from '../csv.ts'
import { EXAMPLE_COMPLETENESS } from '../examples.ts'
import { reportPeriod } from '../parameters.ts'
import { CompletenessReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'

/** Whose work it is about. What the checks themselves ask for is not left to the caller. */
const OF_WORK = [
  ...(['project', 'ticket', 'client', 'agent_manager', 'agent_name', 'agent_harness'] as const),
  ...(['model', 'provider', 'source', 'session_id', 'label'] as const),
]

const CompletenessQuery = t.Object(
  {
    ...t.Pick(t.Object(entryFilters()), OF_WORK).properties,
    ...reportPeriod(),
    format: listPage('').format,
  },
  { additionalProperties: false },
)

export const completenessRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'completeness', normalize: false }).use(access()).get(
    '/completeness',
    async ({ query, caller, request }) => {
      const viewer = viewerOf(caller)
      const asked = await reports.readCompleteness(query, askerOf(caller))
      const report = await reports.completeness(viewer, asked)
      if (!wantsCsv(request, asked.format)) return report
      return csvResponse(report.data, COMPLETENESS_COLUMNS, 'completeness.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: CompletenessQuery,
      detail: documented({
        id: 'reportCompleteness',
        tag: 'Reports',
        summary: 'Get the completeness of a period',
        description:
          'Counts the entries of the period that are unattributed, unpriced, unapproved, unbilled, possible duplicates, or extend beyond the period, with their cost. `list` is the path of the list of these entries.',
        responses: {
          200: {
            description: 'All checks, including those without findings.',
            schema: CompletenessReport,
            example: EXAMPLE_COMPLETENESS,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
