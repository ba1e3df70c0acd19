import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../http/access.ts'
import { csvResponse, wantsCsv } from '../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../http/documentation.ts'
import { undividedReport } from '../reports/parameters.ts'
import type { ReportsService } from '../reports/service.ts'
import { OUTLIER_COLUMNS } from './csv.ts'
import { EXAMPLE_OUTLIERS } from './examples.ts'
import { OutliersReport } from './schema.ts'
import type { AnomaliesService } from './service.ts'

const OutliersQuery = t.Object(undividedReport(), { additionalProperties: false })

interface Dependencies {
  anomalies: Pick<AnomaliesService, 'outliers'>
  reports: Pick<ReportsService, 'readPeriod'>
}

export const outliersRoute = ({ anomalies, reports }: Dependencies) =>
  new Elysia({ name: 'outliers', normalize: false }).use(access()).get(
    '/outliers',
    async ({ query, caller, request }) => {
      const asked = await reports.readPeriod(query, askerOf(caller))
      const report = await anomalies.outliers(viewerOf(caller), asked)
      if (!wantsCsv(request, asked.format)) return report
      return csvResponse(report.data, OUTLIER_COLUMNS, 'outliers.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: OutliersQuery,
      detail: documented({
        id: 'reportOutliers',
        tag: 'Reports',
        summary: 'List sessions that cost far more than usual',
        description:
          'Sessions that cost at least $10 more than the usual session of the same person, more than any in the 28 days before, and far more by their modified z-score. Only the 100 sessions with the highest costs in the period are compared, at most three of a person and day, with the entries of that person that the caller sees.',
        responses: {
          200: {
            description: 'The sessions.',
            schema: OutliersReport,
            example: EXAMPLE_OUTLIERS,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
