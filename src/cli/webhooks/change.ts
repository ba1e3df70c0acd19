import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples, requireFields, textOrNone } from '../flags/options.ts'
import { addWebhookFlags, managerOf, printWebhook, WEBHOOK, type WebhookFlags } from './webhook.ts'

export function addWebhooksChangeCommand(webhooks: Command): void {
  addWebhookFlags(webhooks.command('change'), '; none for events of all')
    .description('Change a webhook; with a new address, a failed delivery is repeated at once')
    .argument('<id>', WEBHOOK)
    .option('--json', 'print the webhook as JSON')
    .addHelpText(
      'after',
      examples(
        "tally webhooks change whk_01a1fa172a0277f3983322718874f2ea --type 'bill.*,budget.*'",
        'tally webhooks change whk_01a1fa172a0277f3983322718874f2ea --client none',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const { name, url, format, type: types, client, project } = command.opts<WebhookFlags>()
      const fields = { name, url, format, types, client: textOrNone(client), project: textOrNone(project) }
      requireFields(fields, command)
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
      await act(
        command,
        ({ webhooks: service }, self) => service.changeWebhook(id, given, managerOf(self)),
        (body) => body,
        printWebhook,
      )
    })
}
