import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { listPage } from '../../../operations/parameters.ts'
import { entryFilters } from '../../selection/parameters.ts'
import { UNPRICED_COLUMNS } from '../csv.ts'
import { EXAMPLE_UNPRICED } from '../examples.ts'
import { timeZone } from '../parameters.ts'
import { UnpricedReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'

const UnpricedQuery = t.Object(
  { ...entryFilters(), time_zone: timeZone(), ...listPage('Models') },
  { additionalProperties: false },
)

export const unpricedRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'unpriced', normalize: false }).use(access()).get(
    '/unpriced',
    async ({ query, caller, request }) => {
      const viewer = viewerOf(caller)
      const asked = await reports.readUnpriced(query, askerOf(caller))
      if (!wantsCsv(request, asked.format)) return reports.unpriced(viewer, asked)
      return csvResponse(reports.exportUnpriced(viewer, asked), UNPRICED_COLUMNS, 'unpriced.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: UnpricedQuery,
      detail: documented({
        id: 'reportUnpriced',
        tag: 'Reports',
        summary: 'Report models without a price',
        description:
          'Shows usage without a price, most used model first. `explanation` is the path of the reason. Use `POST /prices`, `/prices/load` or `/price-aliases` to add a price and value these entries.',
        responses: {
          200: {
            description: 'A page of models.',
            schema: UnpricedReport,
            example: EXAMPLE_UNPRICED,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
