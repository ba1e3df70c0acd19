import type { Command } from 'commander'
import type { PriceBody } from '../../features/prices/schema.ts'
import { examples } from '../flags/options.ts'
import type { Column } from '../terminal/columns.ts'
import { note, print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'
import { ID, priceColumns, priceService, resolutionText, SOURCE } from './text.ts'

export function addPricesShowCommand(prices: Command): void {
  prices
    .command('show')
    .description('Show all prices and aliases of a model, and its current price')
    .argument('<model>', 'exact name of the model')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally prices show claude-sonnet-4-5'))
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { aliasBody, priceBody, resolutionBody } = await priceService()
      const { rows, aliases, resolution, timeZone } = await withServices(flags, async (all) => {
        await noteMissingTable(all.prices)
        const known = await all.prices.listAliases({ all: true })
        const named = known.filter((alias) => alias.alias === model)
        const models = [model, ...named.map((alias) => alias.model)]
        return {
          rows: (await all.prices.everyPrice({ models })).map(priceBody),
          aliases: known.filter((alias) => models.includes(alias.model) || alias.alias === model).map(aliasBody),
          resolution: resolutionBody(await all.prices.resolve(model, null)),
          timeZone: (await all.organization.settings()).timeZone,
        }
      })
      if (flags.json) return printJson({ model, prices: rows, aliases, resolution })
      if (rows.length === 0) note(`No price table lists a model named exactly '${model}'.`)
      else printTable<PriceBody>([...priceColumns(timeZone).map(ofOneModel), SOURCE, ID], rows)
      if (aliases.length > 0) print('')
      for (const { alias, provider, model: named, source } of aliases) {
        print(`'${alias}' is an alias of '${named}' at ${provider ?? 'its maker'} (${source}).`)
      }
      print('')
      print(resolutionText(resolution, timeZone))
    })
}

/** All rows are of the model that was named, so that its column can be spared first. */
const ofOneModel = (column: Column<PriceBody>) => (column.title === 'MODEL' ? { ...column, rank: 3 } : column)
