import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { managerOf, WEBHOOK } from './webhook.ts'

export function addWebhooksTakeOverCommand(webhooks: Command): void {
  webhooks
    .command('take-over')
    .description(
      'Take over a webhook, such as a suspended one: it is sent all events of its types, also those that waited',
    )
    .summary('Take over a webhook, such as a suspended one')
    .argument('<id>', WEBHOOK)
    .option('--json', 'print the webhook as JSON')
    .addHelpText('after', examples('tally webhooks take-over whk_01a1fa172a0277f3983322718874f2ea'))
    .action((id: string, _flags, command: Command) =>
      act(
        command,
        ({ webhooks: service }, self) => service.takeOver(id, managerOf(self)),
        (body) => body,
        (body) => print(`The webhook '${body.name}' belongs to the command line now, which may read everything.`),
      ),
    )
}
