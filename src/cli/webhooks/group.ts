import type { Command } from 'commander'
import {
  addWebhook,
  changeWebhook,
  disableWebhook,
  enableWebhook,
  getWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  takeOverWebhook,
} from '../../features/webhooks/operations/webhooks.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { minute, note } from '../terminal/print.ts'
import { addWebhooksDeliveriesCommand } from './deliveries.ts'
import { addWebhooksListenCommand } from './listen.ts'
import { addWebhooksResendCommand } from './resend.ts'
import { addWebhooksTestCommand } from './test.ts'
import { EXAMPLE_ID, ownerText, readOverlap, scopeText, stateText, WEBHOOK_FLAGS, webhookFields } from './webhook.ts'

const subject = 'id'

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
  addListing(webhooks, listWebhooks, {
    description: 'List webhooks with their state, newest first',
    examples: ['tally webhooks list', 'tally webhooks list --failing yes --json'],
    columns: [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'TYPES', rank: 1, of: ({ types }) => types.join(', ') },
      { title: 'SCOPE', rank: 2, of: scopeText },
      { title: 'FORMAT', rank: 1, of: ({ format }) => format },
      { title: 'STATE', of: stateText },
      { title: 'OWNER', rank: 2, of: ownerText },
      { title: 'LAST SENT (UTC)', rank: 1, of: ({ last_delivery }) => minute(last_delivery?.at ?? null) },
      { title: 'URL', rank: 2, of: ({ url }) => url },
      { title: 'ID', of: ({ id }) => id },
    ],
    howToAdd: 'Add one with `tally webhooks add`.',
  })
  addAction(webhooks, addWebhook, {
    name: 'add',
    description: 'Add a webhook; the secret of its signatures is shown only once',
    flags: WEBHOOK_FLAGS,
    examples: [
      "tally webhooks add --name 'Billing bot' --url https://hooks.example.com/tally --type 'bill.*'",
      "tally webhooks add --name Slack --url https://hooks.slack.com/services/… --type 'budget.*,backup.failed' --format slack",
    ],
    // The secret alone goes to standard output, so that a script can store it.
    show: ({ name, id, secret }) => {
      note(
        `Added the webhook '${name}' (${id}). The secret of its signatures is printed: store it now, it is not shown again. To test it: tally webhooks test ${id}`,
      )
      return secret
    },
  })
  addAction(webhooks, changeWebhook, {
    name: 'change',
    description: 'Change a webhook; with a new address, a failed delivery is repeated at once',
    subject,
    flags: WEBHOOK_FLAGS,
    examples: [
      `tally webhooks change ${EXAMPLE_ID} --type 'bill.*,budget.*'`,
      `tally webhooks change ${EXAMPLE_ID} --client none`,
    ],
    show: webhookFields,
  })
  addAction(webhooks, removeWebhook, {
    name: 'remove',
    description: 'Remove a webhook and the record of its deliveries',
    subject,
    examples: [`tally webhooks remove ${EXAMPLE_ID} --yes`],
    first: getWebhook,
    confirm: (_, { name }) => `Remove the webhook '${name}' and the record of its deliveries?`,
    show: (_, id) => `The webhook ${id} is removed.`,
  })
  addAction(webhooks, enableWebhook, {
    name: 'enable',
    description: 'Enable a disabled webhook: it gets events from now on',
    subject,
    flags: {
      send_missed: { flag: '--send-missed', doc: 'also send the events that it missed, in order', value: true },
    },
    examples: [`tally webhooks enable ${EXAMPLE_ID} --send-missed`],
    show: ({ name }, _, { send_missed }) =>
      `The webhook '${name}' is enabled.${send_missed ? '\nThe server sends the events that it missed.' : ''}`,
  })
  addAction(webhooks, disableWebhook, {
    name: 'disable',
    description: 'Disable a webhook: it gets no events until it is enabled',
    subject,
    examples: [`tally webhooks disable ${EXAMPLE_ID}`],
    show: ({ name }) => `The webhook '${name}' is disabled.`,
  })
  addAction(webhooks, takeOverWebhook, {
    name: 'take-over',
    description: 'Take over a webhook, which is then sent its events, also those that waited',
    subject,
    examples: [`tally webhooks take-over ${EXAMPLE_ID}`],
    show: ({ name }) => `The webhook '${name}' belongs to the command line now, which may read everything.`,
  })
  addAction(webhooks, rotateWebhookSecret, {
    name: 'rotate',
    description: 'Replace the secret of a webhook; the new one is shown only once',
    subject,
    flags: {
      overlap_hours: {
        flag: '--overlap <duration>',
        doc: 'how long messages are signed with the old secret too, in whole hours, at most 2w; 0 ends it at once (default: 24h)',
        read: readOverlap,
      },
    },
    examples: [`tally webhooks rotate ${EXAMPLE_ID} --overlap 48h`],
    show: ({ name, secret, previous_secret_until: until }) => {
      note(
        `The new secret of '${name}' is printed: store it now, it is not shown again. ${until === null ? 'The old one no longer works.' : `Until ${until}, messages are signed with the old one, too.`}`,
      )
      return secret
    },
  })
  addWebhooksTestCommand(webhooks)
  addWebhooksDeliveriesCommand(webhooks)
  addWebhooksResendCommand(webhooks)
  addWebhooksListenCommand(webhooks)
}
