import type { Command } from 'commander'
import type { VarianceReport } from '../../features/reports/schema.ts'
import { counted, countText, dollars, inDollars } from '../terminal/numbers.ts'
import { note, print, printTable } from '../terminal/print.ts'
import { addReport } from './report.ts'

export function addReportsVarianceCommand(reports: Command): void {
  addReport<VarianceReport, VarianceReport['data'][number]>(reports, {
    name: 'variance',
    description: 'Compare reported costs with list values by model and agent, largest difference first',
    isPaged: true,
    read: async ({ reports }, self, texts) => reports.variance(self.viewer, await reports.readVariance(texts, self)),
    async csv(_, { reports }, self, texts) {
      const { VARIANCE_COLUMNS } = await import('../../features/reports/service.ts')
      const query = await reports.readVariance(texts, self)
      return { rows: reports.exportVariance(self.viewer, query), columns: VARIANCE_COLUMNS }
    },
    show: printVariance,
    examples: ['tally reports variance --month 2026-11', 'tally reports variance --last 90d --csv'],
  })
}

function printVariance({ totals, data, has_more, next_page }: VarianceReport): void {
  if (data.length === 0) {
    print('No entries in this period have both a reported cost and a list value.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'AGENT', of: ({ agent_name }) => agent_name },
      { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'REPORTED (USD)', of: (row) => dollars(row.reported_cost), align: 'right' },
      { title: 'LIST VALUE', of: (row) => dollars(row.list_value), align: 'right' },
      { title: 'DIFFERENCE', of: (row) => dollars(row.difference), align: 'right' },
      { title: 'RATIO', of: ({ ratio }) => (ratio === null ? '–' : JSON.stringify(ratio)), align: 'right' },
    ],
    data,
  )
  print('')
  print(
    `${counted(totals.compared_entries, 'entry', 'entries')} of ${countText(totals.entries)} compared: reported ${inDollars(totals.reported_cost)}, list value ${inDollars(totals.list_value)}.`,
  )
  if (has_more) note(`More rows: add --page ${next_page}`)
}
