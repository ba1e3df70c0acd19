import type { Command } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { minute, print, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { ownerText, scopeText, stateText } from './webhook.ts'

export function addWebhooksListCommand(webhooks: Command): void {
  webhooks
    .command('list')
    .description('List webhooks with their state, newest first')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally webhooks list', 'tally webhooks list --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & ColumnFlags>()
      const listed = await withServices(flags, ({ webhooks: service }) => service.everyWebhook())
      if (flags.json) return printJsonList(listed)
      if (listed.length === 0) return print('No webhooks. Add one with `tally webhooks add`.')
      printTable(
        [
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
        listed,
        flags,
      )
    })
}
