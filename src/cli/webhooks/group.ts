import { type Command, InvalidArgumentError } from 'commander'
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
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples, optionOf } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { minute, note, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { addWebhooksListenCommand } from './listen.ts'
import {
  EXAMPLE_ID,
  managerOf,
  ownerText,
  readOverlap,
  resultText,
  scopeText,
  stateText,
  WEBHOOK,
  WEBHOOK_FLAGS,
  webhookFields,
} from './webhook.ts'

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

function addWebhooksTestCommand(webhooks: Command): void {
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

interface ResendFlags extends CommandFlags {
  event?: string
  since?: string
}

function addWebhooksResendCommand(webhooks: Command): void {
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

/** What is kept of a webhook. */
const LIMIT = 500

function addWebhooksDeliveriesCommand(webhooks: Command): void {
  webhooks
    .command('deliveries')
    .description('List the latest attempts to deliver events to a webhook, newest first')
    .argument('<id>', WEBHOOK)
    .option('--limit <number>', `how many, at most ${LIMIT}`, parseLimit, 50)
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON, with the bodies and the responses')
    .addHelpText(
      'after',
      examples(
        'tally webhooks deliveries whk_01a1fa172a0277f3983322718874f2ea',
        'tally webhooks deliveries whk_01a1fa172a0277f3983322718874f2ea --limit 1 --json',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags & { limit: number }>()
      const { data } = await withServices(flags, ({ webhooks: service }, self) =>
        service.listDeliveries(id, { after: undefined, limit: flags.limit }, managerOf(self)),
      )
      if (flags.json) return printJsonList(data)
      if (data.length === 0) return print('No deliveries yet. Send a test with `tally webhooks test`.')
      printTable(
        [
          { title: 'SENT (UTC)', of: ({ at }) => at.slice(0, 19).replace('T', ' ') },
          { title: 'TYPE', of: ({ type }) => type },
          { title: 'EVENT', of: ({ event }) => event ?? '–' },
          { title: 'WHY', rank: 2, of: ({ kind }) => kind },
          { title: 'ATTEMPT', rank: 1, of: ({ attempt }) => String(attempt), align: 'right' },
          { title: 'STATUS', of: ({ status }) => String(status ?? '–'), align: 'right' },
          { title: 'MS', rank: 1, of: ({ latency_ms }) => String(latency_ms), align: 'right' },
          { title: 'ERROR', flows: true, of: ({ error }) => error ?? '' },
        ],
        data,
        flags,
      )
    })
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT) throw new InvalidArgumentError(`Use a number from 1 to ${LIMIT}.`)
  return limit
}
