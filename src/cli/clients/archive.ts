import type { Command } from 'commander'
import { addArchiveCommands } from '../work-commands.ts'
import { CLIENT } from './client.ts'

/** `tally clients archive`, `restore` and `remove`. */
export function addClientsArchiveCommands(clients: Command): void {
  addArchiveCommands(
    clients,
    CLIENT,
    {
      archive: ({ projects }, self, client) => projects.archiveClient(self, client),
      restore: ({ projects }, self, client) => projects.restoreClient(self, client),
      remove: ({ projects }, self, client) => projects.removeClient(self, client),
    },
    {
      archive: 'Archive a client: hide it from lists; its projects stay active and can be billed',
      remove: 'Remove a client without projects and bills',
    },
  )
}
