import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples, requireFields } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { addProjectFlags, PROJECT, type ProjectFlags, projectOf } from './project.ts'

export function addProjectsChangeCommand(projects: Command): void {
  addProjectFlags(
    projects
      .command('change')
      .description('Change a project; none clears a field, and the old key or name becomes an alias')
      .argument('<project>', PROJECT.argument)
      .option('--key <key>', 'new key')
      .option('--name <name>', 'new name'),
  )
    .addHelpText(
      'after',
      examples(
        'tally projects change "acme website" --key ACME --client "Acme Ltd"',
        'tally projects change ACME --budget none',
      ),
    )
    .action(async (project: string, _flags, command: Command) => {
      const given = await projectOf(command.optsWithGlobals<ProjectFlags>())
      requireFields(given, command)
      await act(
        command,
        (services, self) => services.projects.changeProject(self, project, given),
        PROJECT.bodyOf,
        ({ key }) => print(`Changed ${key}.`),
      )
    })
}
