import type { Command } from 'commander'
import { namesOf } from '../responsible.ts'
import { percentText } from '../terminal/numbers.ts'
import { addShowCommand, archivedText } from '../work-commands.ts'
import { CLIENT } from './client.ts'

export function addClientsShowCommand(clients: Command): void {
  addShowCommand(
    clients,
    CLIENT,
    ({ projects }, named) => projects.getClient(named),
    (client) => [
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
  )
}
