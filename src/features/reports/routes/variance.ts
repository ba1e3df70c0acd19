import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { versioned } from '../../../http/entity-tags.ts'
import { listPage } from '../../../operations/parameters.ts'
import { entryFilters } from '../../selection/parameters.ts'
import { VARIANCE_COLUMNS } from '../csv.ts'
import { EXAMPLE_VARIANCE } from '../examples.ts'
import { reportPeriod } from '../parameters.ts'
import { VarianceReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'

const VarianceQuery = t.Object(
  { ...entryFilters(), ...reportPeriod(), ...listPage('Rows') },
  { additionalProperties: false },
)

export const varianceRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'variance', normalize: false }).use(access()).get(
    '/variance',
    async ({ query, caller, request, set }) => {
      const viewer = viewerOf(caller)
      const asked = await reports.readVariance(query, askerOf(caller))
      if (!wantsCsv(request, asked.format)) {
        const version = await reports.version(viewer, asked)
        return versioned({ request, caller, set }, version, () => reports.variance(viewer, asked))
      }
      return csvResponse(reports.exportVariance(viewer, asked), VARIANCE_COLUMNS, 'variance.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: VarianceQuery,
      detail: documented({
        id: 'reportVariance',
        tag: 'Reports',
        summary: 'Compare reported costs with list values',
        description:
          'Grouped by model and agent, largest absolute difference first. Covers entries for which both amounts are known.',
        responses: {
          200: {
            description: 'A page of models and agents.',
            schema: VarianceReport,
            example: EXAMPLE_VARIANCE,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
