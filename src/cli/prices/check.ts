import type { Command } from 'commander'
import type { PriceTableBody } from '../../features/prices/schema.ts'
import { CommandError } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'
import { readPriceTable } from './source.ts'
import { formatOption, type TableFlags } from './table-options.ts'
import { printDifferences } from './table-text.ts'
import { priceService } from './text.ts'

interface CheckFlags extends CommandFlags, Pick<TableFlags, 'format'> {
  exitCode?: boolean
}

export function addPricesCheckCommand(prices: Command): void {
  prices
    .command('check')
    .description('Compare the prices of models in use with another table. Changes nothing')
    .argument('[file]', 'a file, an https:// address, or - for standard input (default: the table included with Tally)')
    .addOption(formatOption('file'))
    .option('--exit-code', 'exit with 1 if prices differ')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally prices check', 'tally prices check https://models.dev/api.json --exit-code'))
    .action(async (place: string | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CheckFlags>()
      const { comparisonBody } = await priceService()
      const file = place === undefined ? undefined : await readPriceTable(place)
      const body = await withServices(flags, async ({ prices: service }) => {
        await noteMissingTable(service)
        return comparisonBody(await service.compare(file && { text: file.text, format: flags.format }))
      })
      if (flags.json) printJson(body)
      else {
        if (body.differences.length > 0) printDifferences(body.differences, ['IN USE', 'OTHER TABLE'])
        print(summaryText(body.models, body.differences))
      }
      const { length } = body.differences
      if (flags.exitCode && length > 0) throw new CommandError(`The prices of ${counted(length, 'model')} differ.`)
    })
}

/** A model that the other table does not list is a difference too, but not another price. */
function summaryText(models: number, differences: PriceTableBody['in_use']): string {
  if (models === 0) return 'No entries in the last 30 days, so no model is in use.'
  const unlisted = differences.filter(({ after }) => after === null).length
  const others = unlisted === 0 ? '' : `, ${unlisted.toLocaleString('en')} not in the other table`
  const changed = (differences.length - unlisted).toLocaleString('en')
  return `${counted(models, 'model')} in use in the last 30 days, ${changed} with another price${others}.`
}
