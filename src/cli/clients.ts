/** `tally clients`. */
import type { Command } from 'commander'
import {
  addClient,
  archiveClient,
  changeClient,
  getClient,
  listClients,
  removeClient,
  restoreClient,
} from '../features/projects/operations/clients.ts'
import { examples } from './flags/options.ts'
import { addResponsible, namesOf } from './members.ts'
import { addAction, addListing } from './operations.ts'
import { percentText } from './terminal/numbers.ts'
import { ARCHIVED_FLAGS, addArchiving, archivedText, byName, listedText } from './work-commands.ts'

const subject = 'client'

const CLIENT = { word: subject, argument: 'name or id (cli_…) of the client', example: '"Acme Ltd"' } as const

const flags = {
  email: '--email <address>',
  currency: '--currency <code>',
  tax_percent: '--tax <percent>',
  markup: '--markup <percent>',
  leads: '--lead <person>',
  approvers: '--approver <person>',
}

export function addClientsCommands(program: Command): void {
  const clients = program
    .command('clients')
    .description('List, add and change clients, to whom projects are billed')
    .addHelpText(
      'after',
      examples('tally clients add "Acme Ltd" --email bills@acme.example --markup 12.5', 'tally clients list'),
    )
  addListing(clients, listClients, {
    flags: ARCHIVED_FLAGS,
    columns: [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'E-MAIL', of: ({ email }) => email ?? '–' },
      { title: 'CURRENCY', of: ({ currency }) => currency ?? '–' },
      { title: 'MARKUP', of: ({ markup }) => percentText(markup), align: 'right' },
      { title: 'STATE', of: ({ archived_at }) => archivedText(archived_at) ?? 'active' },
      { title: 'ID', of: ({ id }) => id },
    ],
    order: byName(({ name }) => name),
    listed: (given) => listedText(given, 'clients'),
    howToAdd: 'Add one with `tally clients add`.',
  })
  addAction(clients, getClient, {
    name: 'show',
    description: 'Show a client',
    subject,
    examples: ['tally clients show "Acme Ltd"'],
    show: (client) => [
      ['client', client.name],
      ['id', client.id],
      ['state', archivedText(client.archived_at)],
      ['e-mail', client.email],
      ['address', client.address?.replaceAll('\n', `\n${' '.repeat(13)}`)],
      ['tax id', client.tax_id],
      ['currency', client.currency],
      ['markup', percentText(client.markup)],
      ['tax', percentText(client.tax_percent)],
      ['tax name', client.tax_name],
      ['reminders', client.reminders ? 'yes' : 'no'],
      ['leads', namesOf(client.leads)],
      ['approvers', namesOf(client.approvers)],
    ],
  })
  addAction(clients, addClient, {
    name: 'add',
    positional: ['name'],
    flags,
    examples: ['tally clients add "Acme Ltd" --email bills@acme.example --currency EUR --markup 12.5'],
    show: ({ name, id }) => `Added ${name}: ${id}`,
  })
  addAction(clients, changeClient, {
    name: 'change',
    description: 'Change a client',
    subject,
    flags,
    examples: ['tally clients change "Acme Ltd" --markup 15', 'tally clients change acme --tax-id none'],
    show: ({ name }) => `Changed ${name}.`,
  })
  addArchiving(clients, [archiveClient, restoreClient, removeClient], {
    subject,
    example: '"Acme Ltd"',
    nameOf: ({ name }) => name,
    archive: 'Archive a client: hide it from lists; its projects stay active and can be billed',
    remove: 'Remove a client without projects and bills',
  })
  addResponsible(clients, CLIENT, async ({ projects }, self, named, fields) => {
    const { clientBody } = await import('../features/projects/service.ts')
    return clientBody(await projects.changeClient(self, named, fields), 'everything')
  })
}
