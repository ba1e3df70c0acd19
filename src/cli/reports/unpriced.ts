import type { Command } from 'commander'
import type { UnpricedReport } from '../../features/reports/schema.ts'
import { addEntryFilters, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { countText } from '../terminal/numbers.ts'
import { minute, note, print, printCsv, printJson, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { addOutputFlags, type ReportFlags } from './output.ts'

export function addReportsUnpricedCommand(reports: Command): void {
  const unpriced = reports
    .command('unpriced')
    .description('List models without a price, with the usage that is not valued yet')
  addOutputFlags(addEntryFilters(unpriced), 'unpriced', { paged: true })
    .addHelpText('after', examples('tally reports unpriced', 'tally reports unpriced --project acme-web --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      await withServices(flags, async ({ reports: service }, self) => {
        const { viewer } = self
        const asked = await service.readUnpriced(
          {
            ...entryFilterTexts(flags),
            limit: flags.limit,
            page: flags.page,
          },
          self,
        )
        if (flags.csv) {
          const { UNPRICED_COLUMNS } = await import('../../features/reports/service.ts')
          return printCsv(service.exportUnpriced(viewer, asked), UNPRICED_COLUMNS)
        }
        const report = await service.unpriced(viewer, asked)
        if (flags.json) printJson(report)
        else printUnpriced(report)
      })
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
