import type { Command } from 'commander'
import type { VarianceReport } from '../../features/reports/schema.ts'
import { addReportFilters, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { addPeriodFlags, periodTexts } from '../flags/period.ts'
import { counted, countText, dollars, inDollars } from '../terminal/numbers.ts'
import { note, print, printCsv, printJson, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { addOutputFlags, type ReportFlags } from './output.ts'

export function addReportsVarianceCommand(reports: Command): void {
  const variance = reports
    .command('variance')
    .description('Compare reported costs with list values by model and agent, largest difference first')
  addOutputFlags(addReportFilters(addPeriodFlags(variance)), 'variance', { paged: true })
    .addHelpText('after', examples('tally reports variance --month 2026-11', 'tally reports variance --last 90d --csv'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      await withServices(flags, async (services, self) => {
        const { viewer } = self
        const { reports: service } = services
        const asked = await service.readVariance(
          {
            ...entryFilterTexts(flags),
            ...(await periodTexts(services, flags)),
            limit: flags.limit,
            page: flags.page,
          },
          self,
        )
        if (flags.csv) {
          const { VARIANCE_COLUMNS } = await import('../../features/reports/service.ts')
          return printCsv(service.exportVariance(viewer, asked), VARIANCE_COLUMNS)
        }
        const report = await service.variance(viewer, asked)
        if (flags.json) printJson(report)
        else printVariance(report)
      })
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
