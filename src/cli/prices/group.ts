import { type Command, InvalidArgumentError } from 'commander'
import type { AliasBody, PriceBody, ResolutionBody } from '../../features/prices/schema.ts'
import { examples } from '../flags/options.ts'
import { type Column, note, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type DatabaseFlags, withServices } from '../with-services.ts'
import { addLoadPricesCommand } from './load.ts'
import { addRepriceCommand, tellRepriced, valueUnpriced } from './reprice.ts'
import { amountText, momentOf, PRICE_COLUMNS, parseDay, parsePrice, parseStart, type Start } from './text.ts'

interface Flags extends DatabaseFlags {
  json?: boolean
}

const services = () => import('../../features/prices/service.ts')

const SOURCE: Column<PriceBody> = { title: 'SOURCE', of: ({ source }) => source }
const ID: Column<PriceBody> = { title: 'ID', of: ({ id }) => id }

export function addPricesCommands(program: Command): void {
  const prices = program
    .command('prices')
    .description('Load, list, explain and set model prices, in US dollars per million tokens')
    .addHelpText(
      'after',
      examples(
        'tally prices resolve claude-sonnet-4-5',
        'tally prices load https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json --dry-run',
        'tally prices set our-coder --input 0.5 --output 2',
      ),
    )
  addLoadPricesCommand(prices)
  addListCommands(prices)
  addResolveCommand(prices)
  addSetCommand(prices)
  addAliasCommands(prices)
  addRepriceCommand(prices)
  addExportCommand(prices)
}

function addListCommands(prices: Command): void {
  prices
    .command('list')
    .description('List prices by provider and model, newest first')
    .option('--search <text>', 'only models or providers whose name contains the text')
    .option('--provider <provider>', 'only prices of this provider')
    .option('--json', 'print JSON')
    .option('--csv', 'print CSV, as `tally prices export` does')
    .addHelpText('after', examples('tally prices list --search sonnet', 'tally prices list --provider openai --csv'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { search?: string; provider?: string; csv?: boolean }>()
      const { search, provider } = flags
      const filter = { search, ...(provider === undefined ? {} : { providers: [provider] }) }
      const listed = await withServices(flags, async (all) => {
        await all.prices.loadDefaultPrices()
        return flags.csv ? all.prices.exportPrices('csv', filter) : all.prices.everyPrice(filter)
      })
      if (typeof listed === 'string') {
        process.stdout.write(listed)
        return
      }
      const { priceBody } = await services()
      const bodies = listed.map(priceBody)
      if (flags.json) return printJsonList(bodies)
      printTable<PriceBody>([...PRICE_COLUMNS, SOURCE], bodies)
      if (bodies.length === 0) note('No matching prices. Load a price table with `tally prices load`.')
    })

  prices
    .command('show')
    .description('Show all prices and aliases of a model, and its current price')
    .argument('<model>', 'exact name of the model')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally prices show claude-sonnet-4-5'))
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { aliasBody, priceBody, resolutionBody } = await services()
      const { rows, aliases, resolution } = await withServices(flags, async (all) => {
        await all.prices.loadDefaultPrices()
        const known = await all.prices.listAliases({ all: true })
        const named = known.filter((alias) => alias.alias === model)
        const models = [model, ...named.map((alias) => alias.model)]
        return {
          rows: (await all.prices.everyPrice({ models })).map(priceBody),
          aliases: known.filter((alias) => models.includes(alias.model) || alias.alias === model).map(aliasBody),
          resolution: resolutionBody(await all.prices.resolve(model, null)),
        }
      })
      if (flags.json) return printJson({ model, prices: rows, aliases, resolution })
      if (rows.length === 0) note(`No price table lists a model named exactly '${model}'.`)
      else printTable<PriceBody>([...PRICE_COLUMNS, SOURCE, ID], rows)
      if (aliases.length > 0) print('')
      for (const { alias, provider, model: named, source } of aliases) {
        print(`'${alias}' is an alias of '${named}' at ${provider ?? 'its maker'} (${source}).`)
      }
      print('')
      print(verdict(resolution))
    })
}

function verdict({ model, provider, at, step, price }: ResolutionBody): string {
  const asked = `'${model}'${provider === null ? '' : ` at ${provider}`}`
  if (!price)
    return `${asked} has no price on ${at.slice(0, 10)}. Add one with \`tally prices set\` or \`tally prices alias add\`.`
  const kinds = [
    ['input', price.input],
    ['output', price.output],
    ['cache read', price.cache_read],
    ['cache write', price.cache_write],
    ['one-hour cache write', price.cache_write_1h],
  ] as const
  const known = kinds.filter(([, value]) => value !== null).map(([kind, value]) => `${kind} ${amountText(value)}`)
  return `${asked} costs ${known.join(', ')} per million tokens on ${at.slice(0, 10)}: step ${step}, '${price.model}' at ${price.provider || 'any provider'} (${price.source}).`
}

function addResolveCommand(prices: Command): void {
  prices
    .command('resolve')
    .description('Explain which price applies to a model: which lookup step finds it, and why earlier steps do not')
    .argument('<model>', 'name of the model, as reported in entries')
    .option('--provider <provider>', 'provider of the model, as reported in entries')
    .option('--at <when>', 'date or timestamp (default: now)', parseDay)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally prices resolve claude-sonnet-4-5-20250929',
        'tally prices resolve gpt-4o --provider azure --at 2026-03-01',
      ),
    )
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { provider?: string; at?: number }>()
      const { resolutionBody } = await services()
      const resolution = await withServices(flags, async (all) => {
        await all.prices.loadDefaultPrices()
        return resolutionBody(await all.prices.resolve(model, flags.provider ?? null, flags.at))
      })
      if (flags.json) return printJson(resolution)
      printTable(
        [
          { title: 'STEP', of: ({ step }) => `${step} ${STEPS[step]}` },
          { title: 'RESULT', of: ({ outcome }) => outcome.replaceAll('_', ' ') },
          { title: 'WHY', of: ({ detail }) => detail },
        ],
        resolution.steps,
      )
      print('')
      print(verdict(resolution))
    })
}

/** What each step looks for, in a few words. */
const STEPS: Record<number, string> = {
  1: 'own price',
  2: 'alias',
  3: 'provider',
  4: 'maker',
  5: 'spelling',
  6: 'without date',
  7: 'without vendor',
  8: 'unpriced',
}

function addSetCommand(prices: Command): void {
  prices
    .command('set')
    .description('Set the price of a model; it takes precedence over price tables')
    .argument('<model>', 'exact name of the model, as reported in entries')
    .option('--provider <provider>', 'provider that the price applies to (default: any)', '')
    .requiredOption('--input <dollars>', 'US dollars per million input tokens', parsePrice)
    .requiredOption('--output <dollars>', 'US dollars per million output tokens', parsePrice)
    .option('--cache-read <dollars>', 'US dollars per million cache-read tokens (default: input price)', parsePrice)
    .option('--cache-write <dollars>', 'US dollars per million cache-write tokens (default: input price)', parsePrice)
    .option(
      '--cache-write-1h <dollars>',
      'US dollars per million one-hour cache-write tokens (default: cache-write price)',
      parsePrice,
    )
    .option(
      '--effective-from <when>',
      'a date, a timestamp or always (default: today, or always for a new model)',
      parseStart,
    )
    .option('--force', 'accept a price that looks like a mistake')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally prices set our-coder --input 0.5 --output 2',
        'tally prices set gpt-5 --provider openai --input 1 --output 8 --cache-read 0.1 --effective-from 2026-12-01',
      ),
    )
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<
        Flags & {
          provider: string
          input: bigint
          output: bigint
          cacheRead?: bigint
          cacheWrite?: bigint
          cacheWrite1h?: bigint
          effectiveFrom?: Start
          force?: boolean
        }
      >()
      const { priceBody, repricedBody } = await services()
      const { added, valued } = await withServices(flags, async (all, { by }) => {
        await all.prices.loadDefaultPrices()
        const row = {
          provider: flags.provider,
          model,
          input: flags.input,
          output: flags.output,
          cacheRead: flags.cacheRead ?? null,
          cacheWrite: flags.cacheWrite ?? null,
          cacheWrite1h: flags.cacheWrite1h ?? null,
          tiers: [],
          effectiveFrom: momentOf(flags.effectiveFrom),
        }
        const added = await all.prices.addPrice(row, by, { force: flags.force })
        return { added, valued: await valueUnpriced(all.entries, by) }
      })
      const price = priceBody(added.price)
      if (flags.json) {
        return printJson({ added: added.isAdded, price, valued: repricedBody(valued, { dryRun: false }) })
      }
      print(added.isAdded ? 'Added:' : 'This price already exists:')
      printTable<PriceBody>([...PRICE_COLUMNS, ID], [price])
      tellRepriced(repricedBody(valued, { dryRun: false }))
    })
}

function addAliasCommands(prices: Command): void {
  const alias = prices
    .command('alias')
    .description('Use the price of another model for names that entries report')
    .addHelpText('after', examples('tally prices alias add our-coder claude-sonnet-4-5', 'tally prices alias list'))

  alias
    .command('add')
    .description('Create an alias, or point it to another model')
    .argument('<alias>', 'exact name, as reported in entries')
    .argument('<model>', 'model whose price it uses')
    .option('--provider <provider>', 'provider whose price it uses (default: the same lookup as for the model)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally prices alias add our-coder claude-sonnet-4-5',
        'tally prices alias add gateway/gpt gpt-4o --provider azure',
      ),
    )
    .action(async (name: string, model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { provider?: string }>()
      const { repricedBody, resolutionBody } = await services()
      const { resolution, valued } = await withServices(flags, async (all, { by }) => {
        await all.prices.loadDefaultPrices()
        await all.prices.setAlias({ alias: name, model, provider: flags.provider ?? null }, by)
        return {
          resolution: resolutionBody(await all.prices.resolve(name, null)),
          valued: await valueUnpriced(all.entries, by),
        }
      })
      const body = repricedBody(valued, { dryRun: false })
      if (flags.json)
        return printJson({ alias: name, model, provider: flags.provider ?? null, resolution, valued: body })
      print(`'${name}' is now an alias of '${model}'.`)
      print(verdict(resolution))
      tellRepriced(body)
    })

  alias
    .command('list')
    .description('List the aliases that you created')
    .option('--all', 'include aliases from price tables')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally prices alias list', 'tally prices alias list --all --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { all?: boolean }>()
      const { aliasBody } = await services()
      const listed = await withServices(flags, ({ prices: service }) =>
        service.listAliases({ all: flags.all ?? false }),
      )
      const bodies = listed.map(aliasBody)
      if (flags.json) return printJsonList(bodies)
      printTable<AliasBody>(
        [
          { title: 'ALIAS', of: (one) => one.alias },
          { title: 'MODEL', of: ({ model }) => model },
          { title: 'PROVIDER', of: ({ provider }) => provider ?? '(its maker)' },
          { title: 'SOURCE', of: ({ source }) => source },
        ],
        bodies,
      )
    })

  alias
    .command('remove')
    .description('Remove an alias that you created; entries valued with it keep their list value')
    .argument('<alias>', 'the alias')
    .addHelpText('after', examples('tally prices alias remove our-coder'))
    .action(async (name: string, _flags, command: Command) => {
      await withServices(command.optsWithGlobals<Flags>(), ({ prices: service }, { by }) =>
        service.removeAlias(name, by),
      )
      print(`Removed the alias '${name}'.`)
    })
}

function addExportCommand(prices: Command): void {
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
      const flags = command.optsWithGlobals<Flags & { format: 'csv' | 'json'; loaded?: boolean }>()
      const text = await withServices(flags, async (all) => {
        await all.prices.loadDefaultPrices()
        const { PRICE_SOURCES } = await services()
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
