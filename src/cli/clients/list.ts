import type { Command } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { emptyText } from '../flags/filters.ts'
import { examples } from '../flags/options.ts'
import { percentText } from '../terminal/numbers.ts'
import { archivedOf, archivedText, type ListFlags, listedText, printList } from '../work-commands.ts'
import { CLIENT } from './client.ts'

export function addClientsListCommand(clients: Command): void {
  clients
    .command('list')
    .description('List clients')
    .option('--search <text>', 'only clients whose name contains the text')
    .option('--archived', 'only archived clients')
    .option('--all', 'include archived clients')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally clients list', 'tally clients list --search acme --all'))
    .action((_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>()
      const filter = { search: flags.search, archived: archivedOf(flags) }
      return printList(flags, CLIENT, {
        page: ({ projects }, _self, at) => projects.listClients(filter, at),
        idOf: ({ id }) => id,
        columns: [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'E-MAIL', of: ({ email }) => email ?? '–' },
          { title: 'CURRENCY', of: ({ currency }) => currency ?? '–' },
          { title: 'MARKUP', of: ({ markup }) => percentText(markup), align: 'right' },
          { title: 'STATE', of: ({ archived_at }) => archivedText(archived_at) ?? 'active' },
          { title: 'ID', of: ({ id }) => id },
        ],
        empty: emptyText(flags, listedText(flags, 'clients'), 'Add one with `tally clients add`.'),
      })
    })
}
