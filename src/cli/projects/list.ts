import type { Command } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { emptyText } from '../flags/filters.ts'
import { collect, examples } from '../flags/options.ts'
import { exactText, percentText } from '../terminal/numbers.ts'
import { archivedOf, type ListFlags, listedText, printList } from '../work-commands.ts'
import { PROJECT, stateOf } from './project.ts'

export function addProjectsListCommand(projects: Command): void {
  projects
    .command('list')
    .description('List projects')
    .option('--search <text>', 'only projects whose key, name or alias contains the text')
    .option('--client <client>', 'name or id of the client, or none; repeatable or comma-separated', collect)
    .option('--lead <person>', 'e-mail address or id of a lead; repeatable or comma-separated', collect)
    .option('--archived', 'only archived and merged projects')
    .option('--all', 'include archived and merged projects')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tally projects list --client "Acme Ltd"', 'tally projects list --client none --json'),
    )
    .action((_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags & { client?: string[]; lead?: string[] }>()
      const { search, client: clients, lead: leads } = flags
      const filter = { search, clients, leads, archived: archivedOf(flags) }
      return printList(flags, PROJECT, {
        check: async ({ projects, people }) => {
          await projects.requireKnown('client', clients, '/query/client')
          await people.requireKnown(leads, '/query/lead')
        },
        page: (services, { viewer }, at) => services.projects.listProjects(viewer, filter, at),
        idOf: ({ project }) => project.id,
        columns: [
          { title: 'KEY', of: ({ key }) => key },
          { title: 'NAME', of: ({ name }) => name },
          { title: 'CLIENT', of: ({ client }) => client?.name ?? '–' },
          { title: 'BILLABLE', of: ({ billable }) => (billable ? 'yes' : 'no') },
          { title: 'MARKUP', of: ({ markup }) => percentText(markup), align: 'right' },
          { title: 'BUDGET (USD)', of: ({ budget }) => exactText(budget), align: 'right' },
          { title: 'LEADS', of: ({ leads }) => leads?.map(({ name }) => name).join(', ') || '–' },
          { title: 'STATE', of: stateOf },
          { title: 'ID', of: ({ id }) => id },
        ],
        empty: emptyText(
          flags,
          listedText(flags, 'projects'),
          'They are created when a report names them, or with `tally projects add`.',
        ),
      })
    })
}
