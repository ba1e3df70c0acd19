import type { Command } from 'commander'
import type { AliasBody } from '../../features/prices/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { priceService, resolutionText } from './text.ts'
import { printValued, valueUnpriced } from './unpriced-entries.ts'

/** `tally prices alias add`, `list` and `remove`. */
export function addPricesAliasCommands(prices: Command): void {
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
      const flags = command.optsWithGlobals<CommandFlags & { provider?: string }>()
      const { repricedBody, resolutionBody } = await priceService()
      const { resolution, valued, timeZone } = await withServices(flags, async (all, { by }) => {
        await all.prices.loadDefaultPrices()
        await all.prices.setAlias({ alias: name, model, provider: flags.provider ?? null }, by)
        return {
          resolution: resolutionBody(await all.prices.resolve(name, null)),
          valued: await valueUnpriced(all.entries, by),
          timeZone: (await all.organization.settings()).timeZone,
        }
      })
      const body = repricedBody(valued, { dryRun: false })
      if (flags.json)
        return printJson({ alias: name, model, provider: flags.provider ?? null, resolution, valued: body })
      print(`'${name}' is now an alias of '${model}'.`)
      print(resolutionText(resolution, timeZone))
      printValued(body)
    })

  alias
    .command('list')
    .description('List the aliases that you created')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--all', 'include aliases from price tables')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally prices alias list', 'tally prices alias list --all --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags & { all?: boolean }>()
      const { aliasBody } = await priceService()
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
        flags,
      )
    })

  alias
    .command('remove')
    .description('Remove an alias that you created; entries valued with it keep their list value')
    .argument('<alias>', 'the alias')
    .addHelpText('after', examples('tally prices alias remove our-coder'))
    .action(async (name: string, _flags, command: Command) => {
      await withServices(command.optsWithGlobals<CommandFlags>(), ({ prices: service }, { by }) =>
        service.removeAlias(name, by),
      )
      print(`Removed the alias '${name}'.`)
    })
}
