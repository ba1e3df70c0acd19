import type { Command } from 'commander'
import { addArchiveCommands } from '../work-commands.ts'
import { PROJECT } from './project.ts'

/** `tally projects archive`, `restore` and `remove`. */
export function addProjectsArchiveCommands(projects: Command): void {
  addArchiveCommands(
    projects,
    PROJECT,
    {
      archive: (services, self, project) => services.projects.archiveProject(self, project),
      restore: (services, self, project) => services.projects.restoreProject(self, project),
      remove: (services, self, project) => services.projects.removeProject(self, project),
    },
    {
      archive: 'Archive a project: hide it from lists; reports that name it are still assigned to it',
      remove: 'Remove a project that is not in use',
    },
  )
}
