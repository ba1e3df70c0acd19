import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { SURCHARGE_COLUMNS } from '../csv.ts'
import { EXAMPLE_SURCHARGES } from '../examples.ts'
import { undividedReport } from '../parameters.ts'
import { SurchargesReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'

const SurchargesQuery = t.Object(undividedReport(), { additionalProperties: false })

export const surchargesRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'surcharges', normalize: false }).use(access()).get(
    '/surcharges',
    async ({ query, caller, request }) => {
      const asked = await reports.readPeriod(query, askerOf(caller))
      const report = await reports.surcharges(viewerOf(caller), asked)
      if (!wantsCsv(request, asked.format)) return report
      return csvResponse(report.data, SURCHARGE_COLUMNS, 'surcharges.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: SurchargesQuery,
      detail: documented({
        id: 'reportSurcharges',
        tag: 'Reports',
        summary: 'Report surcharges of long requests',
        description:
          'By model: entries whose list value contains prices of long requests, which some models have from 200,000 tokens of input on, and how much less the same tokens would have cost at the base prices. `list` is the same entries, and `unvalued_list` those of them that have no base price to compare. Covers those that usage reports count; list values are at the prices that each entry was valued at. Session totals without sums of long requests are valued at base prices and not covered.',
        responses: {
          200: {
            description: 'The report.',
            schema: SurchargesReport,
            example: EXAMPLE_SURCHARGES,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
