import { type Command, Option } from 'commander'
import type { WithdrawnPrices } from '../../features/prices/schema.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { exactText } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { noteMissingTable } from './missing-table.ts'
import { ID, parseDay, priceColumns, priceService, startText } from './text.ts'

interface WithdrawFlags extends CommandFlags {
  provider: string
  from?: string
  dryRun?: boolean
  yes?: boolean
}

export function addPricesWithdrawCommand(prices: Command): void {
  asksFirst(prices.command('withdraw'))
    .description('End the prices of a model that were set by hand, so that those of the tables apply again')
    .argument('<model>', 'the model, exactly as in its prices')
    .addOption(new Option('--provider <provider>', 'provider of the prices').default('', 'those for any provider'))
    .option('--from <when>', 'first day without them, or a timestamp (default: today)', parseDay)
    .option('--dry-run', 'only print what would change')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Entries that have a list value keep it. To undo it, set the price again.
${examples(
  'tally prices withdraw our-coder',
  'tally prices withdraw gpt-5 --provider openai --from 2027-01-01 --dry-run',
)}`,
    )
    .action(async (model: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<WithdrawFlags>()
      const { readWithdrawal, withdrawalBody } = await priceService()
      const { provider, from, dryRun = false, yes = false } = flags
      await withServices(flags, async ({ prices: service, organization }, { by }) => {
        const { timeZone } = await organization.settings()
        const withdrawn = readWithdrawal({ model, provider, ...(from && { effective_until: from }) }, timeZone)
        await (dryRun ? noteMissingTable(service) : service.loadDefaultPrices())
        const planned = withdrawalBody(await service.planWithdrawal(withdrawn), { dryRun: true })
        const shows = !flags.json && (dryRun || !yes)
        if (shows) printWithdrawal(planned, timeZone)
        if (dryRun) return flags.json ? printJson(planned) : undefined
        await confirm(`Withdraw the prices of ${model}?`, { yes })
        const done = withdrawalBody(await service.withdraw(withdrawn, by), { dryRun: false })
        if (flags.json) return printJson(done)
        if (!shows) printWithdrawal(done, timeZone)
        print(`Withdrawn from ${startText(done.effective_until, timeZone)} on.`)
      })
    })
}

function printWithdrawal(withdrawn: WithdrawnPrices, timeZone: string): void {
  printTable([...priceColumns(timeZone), ID], withdrawn.prices)
  print(afterText(withdrawn, timeZone))
}

function afterText({ prices, after, effective_until }: WithdrawnPrices, timeZone: string): string {
  const from = startText(effective_until, timeZone)
  if (after === null) return `From ${from} on, '${prices[0]!.model}' has no price: new entries are unpriced.`
  const amounts = `input ${exactText(after.input)}, output ${exactText(after.output)}`
  return `From ${from} on: ${amounts}, '${after.model}' at ${after.provider || 'any provider'} (${after.source}).`
}
