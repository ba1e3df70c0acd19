/** `tally projects repository`: the repositories whose unattributed entries leads of a project see. */
import type { Command } from 'commander'
import type { ProjectBody } from '../../features/projects/schema.ts'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { note, print } from '../terminal/print.ts'
import { PROJECT } from './project.ts'

export function addProjectsRepositoryCommands(projects: Command): void {
  const commands = projects
    .command('repository')
    .description('List, add and remove the repositories whose unattributed entries leads of a project see and assign')
    .addHelpText('after', examples('tally projects repository add ACME acme/web'))
  commands
    .command('list')
    .description('List the repositories of a project')
    .argument('<project>', PROJECT.argument)
    .option('--json', 'print the project as JSON')
    .addHelpText('after', examples('tally projects repository list ACME'))
    .action((project: string, _flags, command: Command) =>
      act(command, ({ projects }) => projects.showProject(project), PROJECT.bodyOf, printRepositories),
    )
  for (const [verb, field, description] of [
    ['add', 'addRepositories', 'Add repositories to a project'],
    ['remove', 'removeRepositories', 'Remove repositories from a project'],
  ] as const) {
    commands
      .command(verb)
      .description(description)
      .argument('<project>', PROJECT.argument)
      .argument('<repository...>', 'values of the label repository, exactly as agents report them')
      .option('--json', 'print the project as JSON')
      .addHelpText('after', examples(`tally projects repository ${verb} ACME acme/web acme/api`))
      .action((project: string, repositories: string[], _flags, command: Command) =>
        act(
          command,
          ({ projects }, self) => projects.changeProject(self, project, { [field]: repositories }),
          PROJECT.bodyOf,
          printRepositories,
        ),
      )
  }
}

function printRepositories({ key, repositories = [] }: ProjectBody): void {
  if (repositories.length === 0) note(`${key} has no repositories.`)
  for (const repository of repositories) print(repository)
}
