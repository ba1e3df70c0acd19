import type { Command } from 'commander'
import type { SurchargeModel, SurchargesReport } from '../../features/reports/schema.ts'
import { counted, countText, dollars, inDollars, shareText } from '../terminal/numbers.ts'
import { type Column, print, printTable } from '../terminal/print.ts'
import { addReport, modelText, periodText } from './report.ts'

export function addReportsSurchargesCommand(reports: Command): void {
  addReport<SurchargesReport, SurchargeModel>(reports, {
    name: 'surcharges',
    description: 'Report what prices of long requests add to list values, by model',
    read: async ({ reports }, self, texts) => reports.surcharges(self.viewer, await reports.readPeriod(texts, self)),
    async csv(report) {
      const { SURCHARGE_COLUMNS } = await import('../../features/reports/service.ts')
      return { rows: (await report()).data, columns: SURCHARGE_COLUMNS }
    },
    show: printSurcharges,
    examples: [
      'tally reports surcharges --month 2026-11',
      'tally reports surcharges --project acme-web --last 90d --json',
    ],
  })
}

/** Only if there are such entries. */
const LEFT_OUT: Column<SurchargeModel> = {
  title: 'WITHOUT BASE PRICE',
  of: ({ unvalued_entries }) => countText(unvalued_entries),
  align: 'right',
}

function printSurcharges(report: SurchargesReport): void {
  const { data, totals } = report
  if (data.length === 0) {
    print('No entry in this period is valued at prices of long requests.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: modelText },
      { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'LIST VALUE (USD)', of: ({ list_value }) => dollars(list_value), align: 'right' },
      { title: 'AT BASE PRICES', of: ({ base_value }) => dollars(base_value), align: 'right' },
      { title: 'SURCHARGE', of: ({ surcharge }) => dollars(surcharge), align: 'right' },
      { title: 'SHARE', of: ({ share }) => shareText(share), align: 'right' },
      ...(totals.unvalued_entries === 0 ? [] : [LEFT_OUT]),
    ],
    data,
  )
  print('')
  print(
    `${counted(totals.entries, 'entry', 'entries')}, ${inDollars(totals.surcharge)} more than at base prices. To list them: tally entries list --long-context yes`,
  )
  if (totals.unvalued_entries > 0) {
    print(
      `Left out: ${counted(totals.unvalued_entries, 'entry', 'entries')} without a base price. To list them: tally entries list --without-base-price yes`,
    )
  }
  print(periodText(report))
}
