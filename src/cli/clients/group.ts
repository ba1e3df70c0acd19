import type { Command } from 'commander'
import { examples } from '../flags/options.ts'
import { addResponsibleCommands } from '../responsible.ts'
import { addClientsAddCommand } from './add.ts'
import { addClientsArchiveCommands } from './archive.ts'
import { addClientsChangeCommand } from './change.ts'
import { CLIENT } from './client.ts'
import { addClientsListCommand } from './list.ts'
import { addClientsShowCommand } from './show.ts'

export function addClientsCommands(program: Command): void {
  const clients = program
    .command('clients')
    .description('List, add and change clients, to whom projects are billed')
    .addHelpText(
      'after',
      examples('tally clients add "Acme Ltd" --email bills@acme.example --markup 12.5', 'tally clients list'),
    )
  addClientsListCommand(clients)
  addClientsShowCommand(clients)
  addClientsAddCommand(clients)
  addClientsChangeCommand(clients)
  addClientsArchiveCommands(clients)
  addResponsibleCommands(clients, CLIENT, (services, self, client, fields) =>
    services.projects.changeClient(self, client, fields),
  )
}
