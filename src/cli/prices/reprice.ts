import type { Command } from 'commander'
import type { Actor } from '../../access/actor.ts'
import type { RepricingBody } from '../../features/prices/schema.ts'
import { parseMoment } from '../../lib/duration.ts'
import type { Services } from '../../services.ts'
import { CommandError } from '../failures.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { collect, examples } from '../flags/options.ts'
import { addDayFlags, type DayFlags, dayTexts } from '../flags/period.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted, exactText } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'
import { priceService } from './text.ts'
import { valueUnpriced } from './unpriced-entries.ts'

interface RepriceFlags extends CommandFlags, DayFlags {
  all?: boolean
  model?: string[]
  dryRun?: boolean
  yes?: boolean
  json?: boolean
}

export function addPricesRepriceCommand(prices: Command): void {
  const reprice = asksFirst(prices.command('reprice'))
    .description('Recalculate list values: of unpriced entries, or with --all of all entries that are not locked')
    .option('--all', 'also entries that have a list value; approved, pending and billed entries never change')
  addDayFlags(reprice, 'with --all: sessions that started')
    .option('--model <name>', 'with --all: model as reported; repeatable or comma-separated', collect)
    .option('--dry-run', 'show what would change, and write nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'tally prices reprice --dry-run',
        'tally prices reprice --all --from 2026-11-01 --to 2026-11-30 --model claude-sonnet-4-5 --dry-run',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<RepriceFlags>()
      const { all = false, dryRun = false, yes = false } = flags
      if (!all && (flags.from !== undefined || flags.to !== undefined || flags.model)) {
        throw new CommandError('--from, --to and --model require --all.', 2)
      }
      const { repricedBody } = await priceService()
      const body = await withServices(flags, async (services, { by }) => {
        await (dryRun ? noteMissingTable(services.prices) : services.prices.loadDefaultPrices())
        if (!dryRun && !yes) {
          const planned = repricedBody(await repriceEntries(services, flags, { by, dryRun: true }), { dryRun: true })
          if (planned.entries === 0) return planned
          printRepricing(planned)
          await confirm(`Recalculate ${counted(planned.entries, 'entry', 'entries')}?`, { yes })
        }
        return repricedBody(await repriceEntries(services, flags, { by, dryRun }), { dryRun })
      })
      if (flags.json) return printJson(body)
      printRepricing(body)
    })
}

async function repriceEntries(
  { entries, organization }: Services,
  { all, model, ...days }: RepriceFlags,
  { by, dryRun }: { by: Actor; dryRun: boolean },
) {
  if (!all) return valueUnpriced(entries, by, { dryRun })
  const { timeZone } = await organization.settings()
  const { starting_at, ending_at } = dayTexts(days)
  const momentOf = (text: string | undefined) => (text === undefined ? undefined : parseMoment(text, timeZone))
  const filter = { starting_at: momentOf(starting_at), ending_at: momentOf(ending_at), model }
  const progress = new Progress('Valuing entries')
  try {
    return await entries.valuation.reprice(
      { filter },
      {
        by,
        dryRun,
        onProgress: (done, total) => progress.show(done, total),
      },
    )
  } finally {
    progress.end()
  }
}

function printRepricing({ entries, list_value, cost, models, dry_run }: RepricingBody): void {
  if (entries === 0) {
    print('No list values change.')
    return
  }
  printTable(
    [
      { title: 'MODEL', of: ({ model }) => model },
      { title: 'ENTRIES', of: (row) => row.entries.toLocaleString('en'), align: 'right' },
      { title: 'LIST VALUE BEFORE (USD)', of: (row) => exactText(row.list_value.before), align: 'right' },
      { title: 'AFTER (USD)', of: (row) => exactText(row.list_value.after), align: 'right' },
    ],
    models,
  )
  print('')
  print(
    `${counted(entries, 'entry', 'entries')} ${dry_run ? 'would change' : 'changed'}: list value $${exactText(list_value.before)} → $${exactText(list_value.after)}, cost $${exactText(cost.before)} → $${exactText(cost.after)}.`,
  )
}
