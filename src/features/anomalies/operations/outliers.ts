import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT } from '../../../http/documentation.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { undividedReport } from '../../reports/parameters.ts'
import type { ReportsService } from '../../reports/service.ts'
import { costBasis } from '../../selection/parameters.ts'
import { outlierColumns } from '../csv.ts'
import { EXAMPLE_OUTLIERS } from '../examples.ts'
import { OutliersReport } from '../schema.ts'
import type { AnomaliesService } from '../service.ts'

interface Needs {
  anomalies: Pick<AnomaliesService, 'outliers'>
  reports: Pick<ReportsService, 'readOutliers'>
}

export const reportOutliers = endpoint({
  id: 'reportOutliers',
  tag: 'Reports',
  method: 'GET',
  path: '/reports/outliers',
  summary: 'List sessions that cost far more than usual',
  description:
    'Sessions that cost at least $10 more than the usual session of the same person, more than any in the 28 days before, and far more by their modified z-score. Only the 100 sessions with the highest costs in the period are compared, at most three of a person and day, with the entries of that person that the caller sees.',
  allow: ['read', 'session'],
  scope: 'entries:read',
  query: { ...undividedReport(), basis: costBasis() },
  answer: result('The sessions.', OutliersReport, EXAMPLE_OUTLIERS, { also: CSV_CONTENT }),
  problems: ['database_deadline', 'fees_hidden'],
  run: async ({ anomalies, reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readOutliers(query, asker)
    const report = await anomalies.outliers(viewer, requested)
    if (!wantsCsv(served.request, requested.format)) return report
    return csvResponse(report.data, outlierColumns(requested.basis), 'outliers.csv')
  },
})
