import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { PRICE_CHANGES_COLUMNS } from '../csv.ts'
import { EXAMPLE_PRICE_CHANGES } from '../examples.ts'
import { undividedReport } from '../parameters.ts'
import { PriceEffectsReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'

const PriceChangesQuery = t.Object(undividedReport(), { additionalProperties: false })

export const priceChangesRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'price-changes', normalize: false }).use(access()).get(
    '/price-changes',
    async ({ query, caller, request }) => {
      const asked = await reports.readPeriod(query, askerOf(caller))
      const report = await reports.priceChanges(viewerOf(caller), asked)
      if (!wantsCsv(request, asked.format)) return report
      return csvResponse(report.data, PRICE_CHANGES_COLUMNS, 'price-changes.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: PriceChangesQuery,
      detail: documented({
        id: 'reportPriceChanges',
        tag: 'Reports',
        summary: 'Report price changes and their effect',
        description:
          'Changes of the standard prices of models in use within the period. For each, the usage from the change to the next one is valued at the new and at the earlier prices. Prices of long requests, service tiers and hours of the day are not considered.',
        responses: {
          200: {
            description: 'The report.',
            schema: PriceEffectsReport,
            example: EXAMPLE_PRICE_CHANGES,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
