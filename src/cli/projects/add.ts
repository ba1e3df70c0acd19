import type { Command } from 'commander'
import { act } from '../act.ts'
import { collect, examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { addProjectFlags, PROJECT, type ProjectFlags, projectOf } from './project.ts'

export function addProjectsAddCommand(projects: Command): void {
  addProjectFlags(
    projects
      .command('add')
      .description('Add a project')
      .argument('<key>', 'short key that reports and tickets use')
      .option('--name <name>', 'display name (default: the key)')
      .option('--alias <text>', 'additional name that reports can use; repeatable or comma-separated', collect)
      .option('--lead <person>', 'e-mail address or id of a lead; repeatable or comma-separated', collect)
      .option('--approver <person>', 'e-mail address or id of an approver; repeatable or comma-separated', collect),
  )
    .addHelpText(
      'after',
      examples('tally projects add ACME --name "Acme web" --alias acme/web --client "Acme Ltd" --budget 2500'),
    )
    .action(async (key: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<ProjectFlags & { alias?: string[]; lead?: string[]; approver?: string[] }>()
      const given = {
        ...(await projectOf(flags)),
        key,
        aliases: flags.alias,
        leads: flags.lead,
        approvers: flags.approver,
      }
      await act(
        command,
        (services, self) => services.projects.addProject(self, given),
        PROJECT.bodyOf,
        (project) => print(`Added ${project.key}: ${project.id}`),
      )
    })
}
