/** A client on the command line. */
import { type Command, Option } from 'commander'
import type { ClientBody } from '../../features/projects/schema.ts'
import type { ClientView } from '../../features/projects/service.ts'
import { markupOf, taxOf } from '../flags/money.ts'
import { textOrNone } from '../flags/options.ts'
import type { CommandFlags } from '../with-services.ts'
import { type Kind, projectService } from '../work-commands.ts'

export const CLIENT: Kind<ClientView, ClientBody> = {
  word: 'client',
  argument: 'name or id (cli_…) of the client',
  example: '"Acme Ltd"',
  bodyOf: async (client) => (await projectService()).clientBody(client, 'everything'),
  nameOf: ({ name }) => name,
}

export interface ClientFlags extends CommandFlags {
  name?: string
  email?: string
  address?: string
  taxId?: string
  currency?: string
  markup?: string
  reminders?: 'yes' | 'no'
  tax?: string
  taxName?: string
}

export function addClientFlags(command: Command): Command {
  return command
    .option('--email <address>', 'e-mail address for bills')
    .option('--address <text>', 'postal address, may have several lines')
    .option('--tax-id <text>', 'tax id, such as a VAT number')
    .option('--currency <code>', 'bill currency, such as EUR (default: that of the organization)')
    .option('--markup <percent>', 'markup on costs, used for projects without their own markup')
    .option('--tax <percent>', 'tax that new bills suggest; 0 for no tax, none for that of its last bill')
    .option('--tax-name <name>', 'name of the tax, such as VAT')
    .addOption(
      new Option(
        '--reminders <yes|no>',
        'whether it gets reminders of overdue bills, see `tally settings set`',
      ).choices(['yes', 'no']),
    )
    .option('--json', 'print JSON')
}

export async function clientOf({
  name,
  email,
  address,
  taxId,
  currency,
  markup,
  reminders,
  tax,
  taxName,
}: ClientFlags) {
  return {
    name,
    email: textOrNone(email),
    address: textOrNone(address),
    taxId: textOrNone(taxId),
    currency: textOrNone(currency),
    markupPpm: await markupOf(markup),
    taxPpm: await taxOf(tax),
    taxName: textOrNone(taxName),
    reminders: reminders && reminders === 'yes',
  }
}
