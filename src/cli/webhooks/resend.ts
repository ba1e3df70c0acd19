import type { Command } from 'commander'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { managerOf, resultText, WEBHOOK } from './webhook.ts'

interface ResendFlags extends CommandFlags {
  event?: string
  since?: string
}

export function addWebhooksResendCommand(webhooks: Command): void {
  webhooks
    .command('resend')
    .description('Send one event again at once, or let the server send all events since a time again, in order')
    .argument('<id>', WEBHOOK)
    .option('--event <event>', 'id of one event')
    .option('--since <when>', 'a date or a timestamp; instead of --event')
    .addOption(optionOf('webhookPrivateNetworks'))
    .option('--json', 'print the attempt, or the webhook, as JSON')
    .addHelpText(
      'after',
      examples(
        'tally webhooks resend whk_01a1fa172a0277f3983322718874f2ea --event evt_184467',
        'tally webhooks resend whk_01a1fa172a0277f3983322718874f2ea --since 2026-11-20T08:00:00Z',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<ResendFlags>()
      const { event, since } = flags
      if ((event === undefined) === (since === undefined)) {
        throw new CommandError('Use either --event or --since.', EXIT_USAGE)
      }
      if (since !== undefined) {
        const body = await withServices(flags, ({ webhooks: service }, self) =>
          service.resendSince(id, since, managerOf(self)),
        )
        if (flags.json) return printJson(body)
        return print(`The server sends the events since ${since} to '${body.name}' again.`)
      }
      const delivery = await withServices(flags, ({ webhooks: service }, self) =>
        service.resend(id, event!, managerOf(self)),
      )
      if (flags.json) printJson(delivery)
      if (!delivery.delivered) throw new CommandError(`The event was ${resultText(delivery)}`)
      if (!flags.json) print(`The event was ${resultText(delivery)}.`)
    })
}
