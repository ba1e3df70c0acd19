import { type Command, InvalidArgumentError } from 'commander'
import { PRICE_SOURCES } from '../../features/prices/contract.ts'
import type { ListedPriceBody, PriceBody, PriceTableBody } from '../../features/prices/schema.ts'
import { CommandError } from '../failures.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { emptyText } from '../flags/filters.ts'
import { examples } from '../flags/options.ts'
import type { Column, ColumnFlags } from '../terminal/columns.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { addPricesAliasCommands } from './alias.ts'
import { addPricesLoadCommand } from './load.ts'
import { addPricesLoadsCommand, addPricesUndoCommand } from './loads.ts'
import { noteMissingTable } from './missing-table.ts'
import { addPricesRepriceCommand } from './reprice.ts'
import { addPricesResolveCommand } from './resolve.ts'
import { addPricesSetCommand } from './set.ts'
import { readPriceTable, withProgress } from './source.ts'
import {
  allowOlderOption,
  asOfMoment,
  asOfOption,
  dryRunOption,
  formatOption,
  type TableFlags,
} from './table-options.ts'
import { loadedText, printDifferences, printTableBody } from './table-text.ts'
import { ID, IN_USE, priceColumns, priceService, resolutionText, SOURCE } from './text.ts'
import { printValued } from './unpriced-entries.ts'
import { addPricesWithdrawCommand } from './withdraw.ts'

export function addPricesCommands(program: Command): void {
  const prices = program
    .command('prices')
    .description('Load, list, set and resolve model prices, in US dollars per million tokens')
    .addHelpText(
      'after',
      examples(
        'tally prices resolve claude-sonnet-4-5',
        'tally prices load https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json --dry-run',
        'tally prices set our-coder --input 0.5 --output 2',
      ),
    )
  addPricesLoadCommand(prices)
  addPricesUpdateCommand(prices)
  addPricesCheckCommand(prices)
  addPricesLoadsCommand(prices)
  addPricesUndoCommand(prices)
  addPricesListCommand(prices)
  addPricesShowCommand(prices)
  addPricesResolveCommand(prices)
  addPricesSetCommand(prices)
  addPricesWithdrawCommand(prices)
  addPricesAliasCommands(prices)
  addPricesRepriceCommand(prices)
  addPricesExportCommand(prices)
}

function addPricesExportCommand(prices: Command): void {
  prices
    .command('export')
    .description('Print all prices in Tally’s own format, which `tally prices load` can read')
    .option('--format <format>', 'csv or json; json includes aliases', parseExportFormat, 'csv' as const)
    .option('--loaded', 'only prices that were loaded or set, without the built-in price table')
    .addHelpText(
      'after',
      examples('tally prices export --loaded > prices.csv', 'tally prices export --format json > prices.json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { format: 'csv' | 'json'; loaded?: boolean }>()
      const text = await withServices(flags, async (all) => {
        await noteMissingTable(all.prices)
        const sources = PRICE_SOURCES.filter((source) => !flags.loaded || source !== 'default')
        return all.prices.exportPrices(flags.format, { sources })
      })
      process.stdout.write(text)
    })
}

function parseExportFormat(text: string): 'csv' | 'json' {
  if (text !== 'csv' && text !== 'json') throw new InvalidArgumentError('Use csv or json.')
  return text
}

function addPricesListCommand(prices: Command): void {
  prices
    .command('list')
    .description('List prices: models of entries of the last 90 days first, then the others, both by name')
    .summary('List prices, models in use first')
    .option('--search <text>', 'only models or providers whose name contains the text')
    .option('--provider <provider>', 'only prices of this provider')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV, as `tally prices export` does')
    .addHelpText('after', examples('tally prices list --search sonnet', 'tally prices list --provider openai --csv'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<
        CommandFlags & ColumnFlags & { search?: string; provider?: string; csv?: boolean }
      >()
      const { search, provider } = flags
      const filter = { search, ...(provider === undefined ? {} : { providers: [provider] }) }
      const listed = await withServices(flags, async (all) => {
        await noteMissingTable(all.prices)
        if (flags.csv) return all.prices.exportPrices('csv', filter)
        const { timeZone } = await all.organization.settings()
        return { timeZone, prices: await all.prices.everyPrice(filter) }
      })
      if (typeof listed === 'string') {
        process.stdout.write(listed)
        return
      }
      const { listedPriceBody } = await priceService()
      const bodies = listed.prices.map(listedPriceBody)
      if (flags.json) return printJsonList(bodies)
      printTable<ListedPriceBody>([...priceColumns(listed.timeZone), SOURCE, IN_USE], bodies, flags)
      if (bodies.length === 0) note(emptyText(flags, 'prices', 'Load a price table with `tally prices load`.'))
    })
}

function addPricesShowCommand(prices: Command): void {
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
          rows: (await all.prices.pricesOf(models)).map(priceBody),
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

interface CheckFlags extends CommandFlags, Pick<TableFlags, 'format'> {
  exitCode?: boolean
}

function addPricesCheckCommand(prices: Command): void {
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

interface UpdateFlags extends CommandFlags, TableFlags {
  from?: string
}

function addPricesUpdateCommand(prices: Command): void {
  prices
    .command('update')
    .description('Update prices from the configured source, and report what changed')
    .option('--from <place>', 'https:// address or file of the table (default: TALLY_PRICES_FROM)')
    .addOption(formatOption('table'))
    .addOption(asOfOption())
    .addOption(allowOlderOption())
    .addOption(dryRunOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Refuses prices that change more than ten times, and a table that looks broken as a whole. Admins and billing get an
e-mail if the price of a model in use changes by more than 5%.
${examples('tally prices update --from https://models.dev/api.json --dry-run', 'TALLY_PRICES_FROM=/etc/tally/prices.csv tally prices update')}`,
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<UpdateFlags>()
      const { from, format, allowOlder, dryRun = false } = flags
      const { tableBody } = await priceService()
      await withServices(flags, async ({ priceUpdates, organization }, { by }) => {
        const { timeZone } = await organization.settings()
        const asOf = asOfMoment(flags, timeZone)
        const update = await withProgress((onProgress) =>
          priceUpdates.update({ from, format, asOf, allowOlder, dryRun, by, onProgress }),
        )
        const body = tableBody(update, { dryRun, load: update.load, valued: update.valued })
        if (flags.json) printJson(body)
        else {
          printTableBody(body, timeZone)
          if (!dryRun) print(loadedText(body.load, update.plan.additions.length))
          if (body.valued) printValued(body.valued)
        }
        if (!dryRun) await priceUpdates.sendNotices()
      })
    })
}
