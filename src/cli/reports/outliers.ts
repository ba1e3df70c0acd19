import type { Command } from 'commander'
import type { OutlierSession, OutliersReport } from '../../features/anomalies/schema.ts'
import { dollars } from '../terminal/numbers.ts'
import { localMinute, print, printTable } from '../terminal/print.ts'
import { addReport, periodText } from './report.ts'

export function addReportsOutliersCommand(reports: Command): void {
  addReport<OutliersReport, OutlierSession>(reports, {
    name: 'outliers',
    description: 'List sessions that cost far more than is usual for their person',
    read: async ({ reports, anomalies }, self, texts) =>
      anomalies.outliers(self.viewer, await reports.readPeriod(texts, self)),
    async csv(report) {
      const { OUTLIER_COLUMNS } = await import('../../features/anomalies/service.ts')
      return { rows: (await report()).data, columns: OUTLIER_COLUMNS }
    },
    show: printOutliers,
    examples: ['tally reports outliers --last 7d', 'tally reports outliers --month 2026-11 --project acme-web --csv'],
  })
}

function printOutliers(report: OutliersReport): void {
  const { data, time_zone } = report
  if (data.length === 0) {
    print('No session cost far more than usual in this period.')
    return
  }
  printTable(
    [
      { title: 'ENTRY', of: ({ id }) => id },
      { title: 'STARTED', of: ({ started_at }) => localMinute(started_at, time_zone) },
      { title: 'PERSON', of: ({ agent_manager }) => agent_manager.name },
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'COST (USD)', of: ({ cost }) => dollars(cost), align: 'right' },
      { title: 'USUAL', of: ({ usual }) => dollars(usual), align: 'right' },
      { title: 'TIMES', of: ({ times }) => (times === null ? '–' : JSON.stringify(times)), align: 'right' },
    ],
    data,
  )
  print('')
  print(periodText(report))
}
