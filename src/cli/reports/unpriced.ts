import type { Command } from 'commander'
import type { UnpricedReport } from '../../features/reports/schema.ts'
import { addEntryFilters } from '../flags/entry-filters.ts'
import { countText } from '../terminal/numbers.ts'
import { minute, note, print, printTable } from '../terminal/print.ts'
import { addReport } from './report.ts'

export function addReportsUnpricedCommand(reports: Command): void {
  addReport<UnpricedReport, UnpricedReport['data'][number]>(reports, {
    name: 'unpriced',
    description: 'List models without a price, with the usage that is not valued yet',
    filters: addEntryFilters,
    isOfAnyTime: true,
    isPaged: true,
    read: async ({ reports }, self, texts) => reports.unpriced(self.viewer, await reports.readUnpriced(texts, self)),
    async csv(_, { reports }, self, texts) {
      const { UNPRICED_COLUMNS } = await import('../../features/reports/service.ts')
      const query = await reports.readUnpriced(texts, self)
      return { rows: reports.exportUnpriced(self.viewer, query), columns: UNPRICED_COLUMNS }
    },
    show: printUnpriced,
    examples: ['tally reports unpriced', 'tally reports unpriced --project acme-web --json'],
  })
}

function printUnpriced({ data, has_more, next_page }: UnpricedReport): void {
  if (data.length === 0) {
    print('All entries have a cost.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'PROVIDER', of: ({ provider }) => provider ?? '(none)' },
      { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'INPUT', of: ({ tokens }) => countText(tokens.input), align: 'right' },
      { title: 'OUTPUT', of: ({ tokens }) => countText(tokens.output), align: 'right' },
      { title: 'CACHE READ', of: ({ tokens }) => countText(tokens.cache_read), align: 'right' },
      { title: 'WRITE', of: ({ tokens }) => countText(tokens.cache_write), align: 'right' },
      { title: 'WRITE 1H', of: ({ tokens }) => countText(tokens.cache_write_1h), align: 'right' },
      { title: 'SINCE (UTC)', of: ({ first_at }) => minute(first_at) },
    ],
    data,
  )
  print('')
  print(
    'To see why a model has no price: tally prices resolve. To add one: tally prices set, or tally prices alias add.',
  )
  if (has_more) note(`More rows: add --page ${next_page}`)
}
