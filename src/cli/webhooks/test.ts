import type { Command } from 'commander'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { resultText, WEBHOOK } from './webhook.ts'

export function addWebhooksTestCommand(webhooks: Command): void {
  webhooks
    .command('test')
    .description('Send an event of the type webhook.test at once, from this machine, and show the result')
    .argument('<id>', WEBHOOK)
    .addOption(optionOf('webhookPrivateNetworks'))
    .option('--json', 'print the attempt as JSON')
    .addHelpText('after', examples('tally webhooks test whk_01a1fa172a0277f3983322718874f2ea'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const delivery = await withServices(flags, ({ webhooks: service }) => service.testWebhook(id))
      if (flags.json) printJson(delivery)
      if (!delivery.delivered) throw new CommandError(`The test was ${resultText(delivery)}`)
      if (!flags.json) print(`The test was ${resultText(delivery)}.`)
    })
}
