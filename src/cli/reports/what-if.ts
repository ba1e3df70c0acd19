import { type Command, Option } from 'commander'
import type { WhatIfModel, WhatIfReport } from '../../features/reports/schema.ts'
import { counted, countText, dollars, inDollars } from '../terminal/numbers.ts'
import { print, printTable } from '../terminal/print.ts'
import { addReport, changeText, modelText, periodText } from './report.ts'

interface WhatIfFlags {
  asModel?: string
  asProvider?: string
}

export function addReportsWhatIfCommand(reports: Command): void {
  addReport<WhatIfReport, WhatIfModel, WhatIfFlags>(reports, {
    name: 'what-if',
    description: 'Compare the cost of the same tokens with the prices of another model: hypothetical',
    options: [
      new Option(
        '--as-model <name>',
        'model whose prices are used instead; with --model, instead of these models',
      ).makeOptionMandatory(),
      new Option('--as-provider <name>', 'its provider (default: its maker)'),
    ],
    texts: ({ asModel, asProvider }) => ({ as_model: asModel, as_provider: asProvider }),
    read: async ({ reports }, self, texts) => reports.whatIf(self.viewer, await reports.readWhatIf(texts, self)),
    async csv(report) {
      const { WHAT_IF_COLUMNS } = await import('../../features/reports/service.ts')
      return { rows: (await report()).data, columns: WHAT_IF_COLUMNS }
    },
    show: printWhatIf,
    examples: [
      'tally reports what-if --as-model claude-haiku-4-5 --month 2026-11',
      'tally reports what-if --as-model gpt-5 --model claude-opus-4-5 --last 30d --json',
    ],
  })
}

function printWhatIf(report: WhatIfReport): void {
  const { as_model, totals, data } = report
  if (totals.entries === 0) {
    print('No usage in this period.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: modelText },
      { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
      { title: 'OWN PRICES (USD)', of: ({ value }) => dollars(value), align: 'right' },
      { title: 'OTHER PRICES', of: ({ other_value }) => dollars(other_value), align: 'right' },
      { title: 'DIFFERENCE', of: ({ difference }) => dollars(difference), align: 'right' },
      { title: 'CHANGE', of: ({ ratio }) => changeText(ratio), align: 'right' },
      {
        title: 'WITHOUT A PRICE',
        of: ({ unvalued_entries }) => (unvalued_entries === 0 ? '' : countText(unvalued_entries)),
        align: 'right',
      },
    ],
    data,
  )
  print('')
  const left = totals.unvalued_entries
  print(
    `Hypothetical: the same tokens at the standard prices of ${as_model} would have cost ${inDollars(totals.other_value)} instead of ${inDollars(totals.value)}.${left === 0 ? '' : ` ${counted(left, 'entry', 'entries')} without a price left out.`}`,
  )
  print(periodText(report))
}
