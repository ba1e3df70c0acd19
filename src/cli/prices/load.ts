import type { Command } from 'commander'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'
import { readPriceTable } from './source.ts'
import {
  allowOlderOption,
  asOfMoment,
  asOfOption,
  dryRunOption,
  formatOption,
  type TableFlags,
} from './table-options.ts'
import { loadedText, printTableBody } from './table-text.ts'
import { momentOf, parseStart, priceService } from './text.ts'
import { printValued, valueUnpriced } from './unpriced-entries.ts'

interface LoadFlags extends CommandFlags, TableFlags {
  effectiveFrom?: string
  force?: boolean
  allowFree?: boolean
  yes?: boolean
  json?: boolean
}

export function addPricesLoadCommand(prices: Command): void {
  asksFirst(prices.command('load'))
    .description('Load a price table. Rows are only added: existing list values do not change')
    .argument('<file>', 'a file, an https:// address, or - for standard input; up to 16 MiB and 20,000 models')
    .addOption(formatOption('file'))
    .option(
      '--effective-from <when>',
      'when the prices take effect: a date, a timestamp or always (default: today for changed prices, always for new models)',
      parseStart,
    )
    .addOption(asOfOption())
    .addOption(allowOlderOption())
    .addOption(dryRunOption())
    .option(
      '--force',
      'accept prices that look like mistakes: above $1,000 per million tokens, or cache writes above 4 times the input price',
    )
    .option('--allow-free', 'accept models with a price of 0')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally prices load model_prices_and_context_window.json --dry-run',
        'tally prices load https://models.dev/api.json --format models-dev --yes',
        'tally prices load negotiated.csv --effective-from 2026-12-01',
      ),
    )
    .action(async (where: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<LoadFlags>()
      const { format, force, allowFree, allowOlder, dryRun = false, yes = false } = flags
      const { tableBody } = await priceService()
      await withServices(flags, async ({ prices: service, entries, organization }, { by }) => {
        const { timeZone } = await organization.settings()
        const { text, ...origin } = await readPriceTable(where)
        await (dryRun ? noteMissingTable(service) : service.loadDefaultPrices())
        const planned = await service.planTable(text, {
          ...origin,
          format,
          asOf: asOfMoment(flags, timeZone),
          allowOlder,
          effectiveFrom: momentOf(flags.effectiveFrom, timeZone),
          force,
          allowFree,
        })
        const { additions, aliases } = planned.plan
        const asks = !dryRun && !yes && additions.length + aliases.length > 0
        if (dryRun || asks) {
          const body = tableBody(planned, { dryRun: true, load: null, valued: null })
          if (flags.json && !asks) return printJson(body)
          if (!flags.json) printTableBody(body, timeZone)
          if (dryRun) return
          await confirm(`Load ${counted(additions.length, 'row')}?`, { yes })
        }
        const loaded = await service.load(planned, by)
        const body = tableBody(loaded, { dryRun, load: loaded.load, valued: await valueUnpriced(entries, by) })
        if (flags.json) return printJson(body)
        if (!asks) printTableBody(body, timeZone)
        print(loadedText(body.load, loaded.plan.additions.length))
        if (body.valued) printValued(body.valued)
      })
    })
}
