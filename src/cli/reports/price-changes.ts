import type { Command } from 'commander'
import type { PriceEffect, PriceEffectsReport } from '../../features/reports/schema.ts'
import { countText, dollars } from '../terminal/numbers.ts'
import { localMinute, print, printTable } from '../terminal/print.ts'
import { addReport, changeText, modelText, periodText } from './report.ts'

export function addReportsPriceChangesCommand(reports: Command): void {
  addReport<PriceEffectsReport, PriceEffect>(reports, {
    name: 'price-changes',
    description: 'List price changes of models in use, with the usage since at both prices, largest effect first',
    read: async ({ reports }, self, texts) => reports.priceChanges(self.viewer, await reports.readPeriod(texts, self)),
    async csv(report) {
      const { PRICE_CHANGES_COLUMNS } = await import('../../features/reports/service.ts')
      return { rows: (await report()).data, columns: PRICE_CHANGES_COLUMNS }
    },
    show: printPriceChanges,
    examples: ['tally reports price-changes --year 2026', 'tally reports price-changes --model gpt-5 --last 90d --csv'],
  })
}

function printPriceChanges(report: PriceEffectsReport): void {
  const { data, time_zone } = report
  if (data.length === 0) {
    print('No price of a model in use changed in this period.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: modelText },
      { title: 'CHANGED', of: ({ changed_at }) => localMinute(changed_at, time_zone) },
      { title: 'ENTRIES SINCE', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'EARLIER PRICE (USD)', of: ({ value_before }) => dollars(value_before), align: 'right' },
      { title: 'NEW PRICE', of: ({ value_after }) => dollars(value_after), align: 'right' },
      { title: 'EFFECT', of: ({ effect }) => dollars(effect), align: 'right' },
      { title: 'CHANGE', of: ({ ratio }) => changeText(ratio), align: 'right' },
    ],
    data,
  )
  print('')
  print(periodText(report))
}
