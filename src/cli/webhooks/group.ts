import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addWebhooksAddCommand } from './add.ts'
import { addWebhooksChangeCommand } from './change.ts'
import { addWebhooksDeliveriesCommand } from './deliveries.ts'
import { addWebhooksEnableCommands } from './enable.ts'
import { addWebhooksListCommand } from './list.ts'
import { addWebhooksListenCommand } from './listen.ts'
import { addWebhooksRemoveCommand } from './remove.ts'
import { addWebhooksResendCommand } from './resend.ts'
import { addWebhooksRotateCommand } from './rotate.ts'
import { addWebhooksTakeOverCommand } from './take-over.ts'
import { addWebhooksTestCommand } from './test.ts'

export function addWebhooksCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('Send events to other programs and chats as they happen')
    .addHelpText(
      'after',
      examples(
        "tally webhooks add --name 'Billing bot' --url https://hooks.example.com/tally --type 'bill.*'",
        'tally webhooks list',
        'tally webhooks listen',
      ),
    )
  addWebhooksListCommand(webhooks)
  addWebhooksAddCommand(webhooks)
  addWebhooksChangeCommand(webhooks)
  addWebhooksRemoveCommand(webhooks)
  addWebhooksEnableCommands(webhooks)
  addWebhooksTakeOverCommand(webhooks)
  addWebhooksRotateCommand(webhooks)
  addWebhooksTestCommand(webhooks)
  addWebhooksDeliveriesCommand(webhooks)
  addWebhooksResendCommand(webhooks)
  addWebhooksListenCommand(webhooks)
}
