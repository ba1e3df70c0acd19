import type { Command } from 'commander'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { examples } from '../flags/options.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { addWebhookFlags, managerOf, type WebhookFlags } from './webhook.ts'

export function addWebhooksAddCommand(webhooks: Command): void {
  addWebhookFlags(webhooks.command('add'), '')
    .description('Add a webhook; the secret of its signatures is shown only once')
    .option('--json', 'print the webhook and its secret as JSON')
    .addHelpText(
      'after',
      examples(
        "tally webhooks add --name 'Billing bot' --url https://hooks.example.com/tally --type 'bill.*'",
        "tally webhooks add --name Slack --url https://hooks.slack.com/services/… --type 'budget.*,backup.failed' --format slack",
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & WebhookFlags>()
      const { name, url, format, type: types, client, project } = flags
      if (name === undefined || url === undefined || types === undefined) {
        throw new CommandError('A webhook needs --name, --url and --type.', EXIT_USAGE)
      }
      const added = await withServices(flags, ({ webhooks: service }, self) =>
        service.addWebhook(
          {
            name,
            url,
            types,
            ...(format !== undefined && { format }),
            ...(client !== undefined && { client }),
            ...(project !== undefined && { project }),
          },
          managerOf(self),
        ),
      )
      if (flags.json) return printJson(added)
      // The secret alone goes to standard output, so that a script can store it.
      print(added.secret)
      note(
        `Added the webhook '${added.name}' (${added.id}). Above is the secret of its signatures: store it now, it is not shown again. To test it: tally webhooks test ${added.id}`,
      )
    })
}
