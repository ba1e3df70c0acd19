import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addResponsibleCommands } from '../responsible.ts'
import { addProjectsAddCommand } from './add.ts'
import { addProjectsAliasCommands } from './alias.ts'
import { addProjectsArchiveCommands } from './archive.ts'
import { addProjectsChangeCommand } from './change.ts'
import { addProjectsListCommand } from './list.ts'
import { addProjectsMergeCommand } from './merge.ts'
import { PROJECT } from './project.ts'
import { addProjectsRepositoryCommands } from './repository.ts'
import { addProjectsShowCommand } from './show.ts'

export function addProjectsCommands(program: Command): void {
  const projects = program
    .command('projects')
    .description('List, add, change and merge the projects that entries are assigned to')
    .addHelpText(
      'after',
      examples(
        'tally projects add ACME --name "Acme web" --client "Acme Ltd" --lead ada@example.com',
        'tally projects alias add ACME acme/web',
        'tally projects merge "acme website" ACME --dry-run',
      ),
    )
  addProjectsListCommand(projects)
  addProjectsShowCommand(projects)
  addProjectsAddCommand(projects)
  addProjectsChangeCommand(projects)
  addProjectsArchiveCommands(projects)
  addProjectsMergeCommand(projects)
  addProjectsAliasCommands(projects)
  addProjectsRepositoryCommands(projects)
  addResponsibleCommands(projects, PROJECT, (services, self, project, fields) =>
    services.projects.changeProject(self, project, fields),
  )
}
