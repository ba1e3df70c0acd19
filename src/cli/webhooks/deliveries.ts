import { type Command, InvalidArgumentError } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { print, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { managerOf, WEBHOOK } from './webhook.ts'

/** What is kept of a webhook. */
const LIMIT = 500

export function addWebhooksDeliveriesCommand(webhooks: Command): void {
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
