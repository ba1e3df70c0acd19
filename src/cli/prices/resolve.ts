import type { Command } from 'commander'
import { collectTool, parseCount } from '../flags/entry.ts'
import { examples } from '../flags/options.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printCalculation } from './calculation.ts'
import { noteMissingTable } from './missing-table.ts'
import { parseDay, priceService, resolutionText } from './text.ts'

interface ResolveFlags extends CommandFlags {
  provider?: string
  at?: string
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
  serviceTier?: string
  speed?: string
  region?: string
  tool?: Record<string, number>
}

export function addPricesResolveCommand(prices: Command): void {
  prices
    .command('resolve')
    .description('Explain which price applies to a model: which lookup step finds it, and why earlier steps do not')
    .argument('<model>', 'name of the model, as reported in entries')
    .option('--provider <provider>', 'provider of the model, as reported in entries')
    .option('--at <when>', 'date or timestamp (default: now)', parseDay)
    .option('--input <count>', 'uncached input tokens of a request, to calculate its cost', parseCount)
    .option('--output <count>', 'output tokens of the request', parseCount)
    .option('--cache-read <count>', 'tokens that the request reads from the cache', parseCount)
    .option('--cache-write <count>', 'tokens that the request writes to the cache', parseCount)
    .option('--cache-write-1h <count>', 'tokens that the request writes to the cache for one hour', parseCount)
    .option('--service-tier <name>', 'service tier of the request, such as batch, flex or priority (default: standard)')
    .option('--speed <name>', 'speed of the request, such as fast (default: standard)')
    .option('--region <name>', 'region of the request, such as us')
    .option('--tool <name=count>', 'charged uses of a tool, such as web_search=3, repeatable', collectTool)
    .option('--json', 'print JSON, as returned by GET /api/v1/prices/resolve')
    .addHelpText(
      'after',
      examples(
        'tally prices resolve claude-sonnet-4-5-20250929',
        'tally prices resolve gpt-4o --provider azure --at 2026-03-01',
        'tally prices resolve claude-opus-4-8 --input 120000 --output 4000 --speed fast --tool web_search=3',
      ),
    )
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<ResolveFlags>()
      const { readResolve, resolutionBody } = await priceService()
      const { resolution, counts, timeZone } = await withServices(flags, async (all) => {
        const { timeZone } = await all.organization.settings()
        const { provider, at, details, counts } = readResolve(textsOf(model, flags), timeZone)
        await noteMissingTable(all.prices)
        const resolved = await all.prices.resolve(model, provider, at, counts && { counts, details })
        return { resolution: resolutionBody(resolved), counts, timeZone }
      })
      if (flags.json) return printJson(resolution)
      printTable(
        [
          { title: 'STEP', of: ({ step }) => `${step} ${STEPS[step]}` },
          { title: 'RESULT', of: ({ outcome }) => outcome.replaceAll('_', ' ') },
          { title: 'WHY', flows: true, of: ({ detail }) => detail },
        ],
        resolution.steps,
      )
      print('')
      print(resolutionText(resolution, timeZone))
      if (!counts) return
      print('')
      if (resolution.value) printCalculation(resolution.value, resolution.value.note)
      else if (resolution.price) print('The price has no rate for some of these tokens, so the cost is unknown.')
    })
}

/** The flags as parameters of `GET /prices/resolve`. */
function textsOf(model: string, flags: ResolveFlags): Record<string, string | string[] | undefined> {
  const textOf = (count: number | undefined) => (count === undefined ? undefined : String(count))
  return {
    model,
    provider: flags.provider,
    at: flags.at,
    input: textOf(flags.input),
    output: textOf(flags.output),
    cache_read: textOf(flags.cacheRead),
    cache_write: textOf(flags.cacheWrite),
    cache_write_1h: textOf(flags.cacheWrite1h),
    service_tier: flags.serviceTier,
    speed: flags.speed,
    region: flags.region,
    tool: Object.entries(flags.tool ?? {}).map(([name, uses]) => `${name}:${uses}`),
  }
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
