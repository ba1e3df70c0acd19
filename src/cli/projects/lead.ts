import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { PROJECT } from './project.ts'

/** `tally projects lead add` and `remove`. */
export function addProjectsLeadCommands(projects: Command): void {
  const lead = projects
    .command('lead')
    .description('Add and remove the leads of a project, who can see and approve all its entries')
    .addHelpText('after', examples('tally projects lead add ACME ada@example.com'))

  const addChange = (verb: 'add' | 'remove', description: string) =>
    lead
      .command(verb)
      .description(description)
      .argument('<project>', PROJECT.argument)
      .argument('<person...>', 'e-mail addresses or ids (usr_…)')
      .option('--json', 'print JSON')
      .addHelpText('after', examples(`tally projects lead ${verb} ACME ada@example.com`))
      .action((project: string, people: string[], _flags, command: Command) => {
        const change = verb === 'add' ? { addLeads: people } : { removeLeads: people }
        return act(
          command,
          (services, self) => services.projects.changeProject(self, project, change),
          PROJECT.bodyOf,
          ({ key, leads = [] }) =>
            print(
              leads.length === 0
                ? `${key} has no leads.`
                : `Leads of ${key}: ${leads.map(({ name }) => name).join(', ')}.`,
            ),
        )
      })
  addChange('add', 'Add leads to a project')
  addChange('remove', 'Remove leads from a project')
}
