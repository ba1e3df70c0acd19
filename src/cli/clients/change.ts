import type { Command } from 'commander'
import { act } from '../act.ts'
import { examples, requireFields } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { addClientFlags, CLIENT, type ClientFlags, clientOf } from './client.ts'

export function addClientsChangeCommand(clients: Command): void {
  addClientFlags(
    clients
      .command('change')
      .description('Change a client; none clears a field')
      .argument('<client>', CLIENT.argument)
      .option('--name <name>', 'new name'),
  )
    .addHelpText(
      'after',
      examples('tally clients change "Acme Ltd" --markup 15', 'tally clients change acme --tax-id none'),
    )
    .action(async (client: string, _flags, command: Command) => {
      const given = await clientOf(command.optsWithGlobals<ClientFlags>())
      requireFields(given, command)
      await act(
        command,
        ({ projects }, self) => projects.changeClient(self, client, given),
        CLIENT.bodyOf,
        ({ name }) => print(`Changed ${name}.`),
      )
    })
}
