import type { Command } from 'commander'
import type { ClientBody } from '../../features/projects/schema.ts'
import type { ClientRow } from '../../features/projects/service.ts'
import { examples } from '../flags/options.ts'
import { note, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { act, addKeepingCommands, type Kind } from '../work-commands.ts'
import {
  archivedOf,
  everyPage,
  type ListFlags,
  markupOf,
  percentText,
  printFields,
  requireFields,
  sinceText,
  textOrNone,
  type WorkFlags,
  work,
} from '../work-text.ts'

const CLIENT = 'name or id (cli_…) of the client'

interface FieldFlags extends WorkFlags {
  name?: string
  email?: string
  address?: string
  taxId?: string
  currency?: string
  markup?: string
}

async function fieldsOf({ name, email, address, taxId, currency, markup }: FieldFlags) {
  return {
    name,
    email: textOrNone(email),
    address: textOrNone(address),
    taxId: textOrNone(taxId),
    currency: textOrNone(currency),
    markupPpm: await markupOf(markup),
  }
}

async function bodyOf(client: ClientRow): Promise<ClientBody> {
  return (await work()).clientBody(client, 'everything')
}

const KIND: Kind<ClientRow, ClientBody> = {
  word: 'client',
  argument: CLIENT,
  example: '"Acme Ltd"',
  bodyOf,
  calledBy: ({ name }) => name,
}

export function addClientsCommands(program: Command): void {
  const clients = program
    .command('clients')
    .description('List, add and change clients, to whom projects are billed')
    .addHelpText(
      'after',
      examples('tally clients add "Acme Ltd" --email bills@acme.example --markup 12.5', 'tally clients list'),
    )

  clients
    .command('list')
    .description('List clients')
    .option('--search <text>', 'only clients whose name contains the text')
    .option('--archived', 'only archived clients')
    .option('--all', 'include archived clients')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally clients list', 'tally clients list --search acme --all'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>()
      const filter = { search: flags.search, archived: archivedOf(flags) }
      const rows = await withServices(flags, ({ projects }) =>
        everyPage(
          (page) => projects.listClients(filter, page),
          ({ id }) => id,
        ),
      )
      const bodies = await Promise.all(rows.map(bodyOf))
      if (flags.json) return printJsonList(bodies)
      printTable(
        [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'E-MAIL', of: ({ email }) => email ?? '–' },
          { title: 'CURRENCY', of: ({ currency }) => currency ?? '–' },
          { title: 'MARKUP', of: ({ markup }) => percentText(markup), align: 'right' },
          { title: 'STATE', of: ({ archived_at }) => sinceText(archived_at) ?? 'active' },
          { title: 'ID', of: ({ id }) => id },
        ],
        bodies.sort((one, other) => one.name.localeCompare(other.name, 'en')),
      )
      if (bodies.length === 0) note('No matching clients. Add one with `tally clients add`.')
    })

  clients
    .command('show')
    .description('Show a client')
    .argument('<client>', CLIENT)
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally clients show "Acme Ltd"'))
    .action(async (client: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<WorkFlags>()
      const body = await bodyOf(await withServices(flags, ({ projects }) => projects.getClient(client)))
      if (flags.json) return printJson(body)
      printFields([
        ['client', body.name],
        ['id', body.id],
        ['state', sinceText(body.archived_at)],
        ['e-mail', body.email],
        ['address', body.address?.replaceAll('\n', `\n${' '.repeat(13)}`)],
        ['tax id', body.tax_id],
        ['currency', body.currency],
        ['markup', percentText(body.markup)],
      ])
    })

  const fields = (command: Command) =>
    command
      .option('--email <address>', 'e-mail address for bills')
      .option('--address <text>', 'postal address, may have several lines')
      .option('--tax-id <text>', 'tax id, such as a VAT number')
      .option('--currency <code>', 'bill currency, such as EUR (default: that of the organization)')
      .option('--markup <percent>', 'markup on costs, used for projects without their own markup')
      .option('--json', 'print JSON')

  fields(clients.command('add').description('Add a client').argument('<name>', 'name of the client'))
    .addHelpText(
      'after',
      examples('tally clients add "Acme Ltd" --email bills@acme.example --currency EUR --markup 12.5'),
    )
    .action(async (name: string, _flags, command: Command) => {
      const given = await fieldsOf(command.optsWithGlobals<FieldFlags>())
      await act(
        command,
        KIND,
        ({ projects }, self) => projects.addClient(self, { ...given, name }),
        (client) => `Added ${client.name}: ${client.id}`,
      )
    })

  fields(
    clients
      .command('change')
      .description('Change a client; none clears a field')
      .argument('<client>', CLIENT)
      .option('--name <name>', 'new name'),
  )
    .addHelpText(
      'after',
      examples('tally clients change "Acme Ltd" --markup 15', 'tally clients change acme --tax-id none'),
    )
    .action(async (client: string, _flags, command: Command) => {
      const given = await fieldsOf(command.optsWithGlobals<FieldFlags>())
      requireFields(given, command)
      await act(
        command,
        KIND,
        ({ projects }, self) => projects.changeClient(self, client, given),
        ({ name }) => `Changed ${name}.`,
      )
    })

  addKeepingCommands(clients, KIND, {
    archive: {
      description: 'Archive a client: hide it from lists; its projects stay active and can be billed',
      does: ({ projects }, self, client) => projects.archiveClient(self, client),
    },
    restore: ({ projects }, self, client) => projects.restoreClient(self, client),
    remove: {
      description: 'Remove a client without projects and bills',
      does: ({ projects }, self, client) => projects.removeClient(self, client),
    },
  })
}
