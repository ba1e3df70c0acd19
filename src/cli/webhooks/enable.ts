import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { managerOf, WEBHOOK } from './webhook.ts'

/** `tally webhooks enable` and `disable`. */
export function addWebhooksEnableCommands(webhooks: Command): void {
  webhooks
    .command('enable')
    .description('Enable a disabled webhook: it gets events from now on')
    .argument('<id>', WEBHOOK)
    .option('--send-missed', 'also send the events that it missed, in order')
    .option('--json', 'print the webhook as JSON')
    .addHelpText('after', examples('tally webhooks enable whk_01a1fa172a0277f3983322718874f2ea --send-missed'))
    .action((id: string, _flags, command: Command) => {
      const { sendMissed } = command.opts<{ sendMissed?: boolean }>()
      return act(
        command,
        ({ webhooks: service }, self) => service.enableWebhook(id, { sendMissed }, managerOf(self)),
        (body) => body,
        (body) => {
          print(`The webhook '${body.name}' is enabled.`)
          if (sendMissed) print('The server sends the events that it missed.')
        },
      )
    })

  webhooks
    .command('disable')
    .description('Disable a webhook: it gets no events until it is enabled')
    .argument('<id>', WEBHOOK)
    .option('--json', 'print the webhook as JSON')
    .addHelpText('after', examples('tally webhooks disable whk_01a1fa172a0277f3983322718874f2ea'))
    .action((id: string, _flags, command: Command) =>
      act(
        command,
        ({ webhooks: service }, self) => service.disableWebhook(id, managerOf(self)),
        (body) => body,
        (body) => print(`The webhook '${body.name}' is disabled.`),
      ),
    )
}
