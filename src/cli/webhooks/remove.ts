import type { Command } from 'commander'
import { asksFirst } from '../flags/confirmation.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { print } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { WEBHOOK } from './webhook.ts'

export function addWebhooksRemoveCommand(webhooks: Command): void {
  asksFirst(webhooks.command('remove'))
    .description('Remove a webhook and the record of its deliveries')
    .argument('<id>', WEBHOOK)
    .addHelpText('after', examples('tally webhooks remove whk_01a1fa172a0277f3983322718874f2ea --yes'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
      const name = await withServices(flags, async ({ webhooks: service }, { by }) => {
        const found = await service.getWebhook(id)
        await confirm(`Remove the webhook '${found.name}' and the record of its deliveries?`, flags)
        await service.removeWebhook(id, by)
        return found.name
      })
      print(`The webhook '${name}' is removed.`)
    })
}
