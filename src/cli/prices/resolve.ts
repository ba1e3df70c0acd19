import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { parseDay, priceService, resolutionText } from './text.ts'

export function addPricesResolveCommand(prices: Command): void {
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
      const flags = command.optsWithGlobals<CommandFlags & { provider?: string; at?: number }>()
      const { resolutionBody } = await priceService()
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
      print(resolutionText(resolution))
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
