import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { addClientFlags, CLIENT, type ClientFlags, clientOf } from './client.ts'

export function addClientsAddCommand(clients: Command): void {
  addClientFlags(clients.command('add').description('Add a client').argument('<name>', 'name of the client'))
    .addHelpText(
      'after',
      examples('tally clients add "Acme Ltd" --email bills@acme.example --currency EUR --markup 12.5'),
    )
    .action(async (name: string, _flags, command: Command) => {
      const given = await clientOf(command.optsWithGlobals<ClientFlags>())
      await act(
        command,
        ({ projects }, self) => projects.addClient(self, { ...given, name }),
        CLIENT.bodyOf,
        (client) => print(`Added ${client.name}: ${client.id}`),
      )
    })
}
