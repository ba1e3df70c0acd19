import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { PROJECT } from './project.ts'

/** `tally projects alias add` and `remove`. */
export function addProjectsAliasCommands(projects: Command): void {
  const alias = projects
    .command('alias')
    .description('Add and remove additional names of a project that reports can use')
    .addHelpText(
      'after',
      examples('tally projects alias add ACME acme/web', 'tally projects alias remove ACME acme/web'),
    )

  alias
    .command('add')
    .description('Add aliases to a project')
    .argument('<project>', PROJECT.argument)
    .argument('<name...>', 'aliases to add; each can belong to only one project')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally projects alias add ACME acme/web "Acme website"'))
    .action((project: string, addAliases: string[], _flags, command: Command) =>
      act(
        command,
        (services, self) => services.projects.changeProject(self, project, { addAliases }),
        PROJECT.bodyOf,
        ({ key, aliases }) => print(`${key} has the aliases ${aliases.join(', ')}.`),
      ),
    )

  alias
    .command('remove')
    .description('Remove aliases from a project; the next report that uses one creates a new project')
    .argument('<project>', PROJECT.argument)
    .argument('<name...>', 'aliases to remove')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally projects alias remove ACME acme/web'))
    .action((project: string, removeAliases: string[], _flags, command: Command) =>
      act(
        command,
        (services, self) => services.projects.changeProject(self, project, { removeAliases }),
        PROJECT.bodyOf,
        ({ key, aliases }) =>
          print(`${key} has ${aliases.length === 0 ? 'no aliases' : `the aliases ${aliases.join(', ')}`}.`),
      ),
    )
}
