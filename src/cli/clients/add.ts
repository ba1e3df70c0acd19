import type { Command } from 'commander'
import { act } from '../act.ts'
import { collect, examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { addClientFlags, CLIENT, type ClientFlags, clientOf } from './client.ts'

export function addClientsAddCommand(clients: Command): void {
  addClientFlags(
    clients
      .command('add')
      .description('Add a client')
      .argument('<name>', 'name of the client')
      .option('--lead <person>', 'e-mail address or id of a lead of all its projects; repeatable', collect)
      .option('--approver <person>', 'e-mail address or id of an approver of all its projects; repeatable', collect),
  )
    .addHelpText(
      'after',
      examples('tally clients add "Acme Ltd" --email bills@acme.example --currency EUR --markup 12.5'),
    )
    .action(async (name: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<ClientFlags & { lead?: string[]; approver?: string[] }>()
      const given = { ...(await clientOf(flags)), leads: flags.lead, approvers: flags.approver }
      await act(
        command,
        ({ projects }, self) => projects.addClient(self, { ...given, name }),
        CLIENT.bodyOf,
        (client) => print(`Added ${client.name}: ${client.id}`),
      )
    })
}
