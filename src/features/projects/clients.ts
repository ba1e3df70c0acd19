/** Clients, who are billed for projects. */

import type { Party } from '../../access/actor.ts'
import type { Database, Reader } from '../../database/database.ts'
import { notFound, Problem, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isId } from '../../lib/id.ts'
import { composeName, foldName } from '../../lib/names.ts'
import type { Rows } from '../../schema/lists.ts'
import { type AuditService, type ChangeAction, difference } from '../audit/service.ts'
import { requireEverything } from './access.ts'
import type { ClientFields, ResponsibleFields } from './fields.ts'
import { changeResponsible } from './responsibility.ts'
import type { CLIENT_SORTS } from './sorts.ts'
import {
  type ClientFilter,
  type ClientRow,
  type ClientChange as ClientRowChange,
  type ClientView,
  clientViews,
  deleteClient,
  findClientByName,
  findClientByUid,
  insertClient,
  listClients,
  pageAfterClient,
  updateClient,
  usesOfClient,
} from './store/clients.ts'
import { isPossibleName, issuesOfClient } from './validation.ts'
import { clientBody } from './wire.ts'

function nameTaken(client: ClientRow): Problem {
  const state = client.archivedAt === null ? '' : ', archived'
  return new Problem('already_exists', `A client named '${client.name}' already exists (${client.uid}${state}).`)
}

/** By id (`cli_…`) or name. */
export async function findClient(reader: Reader, client: string): Promise<ClientRow | undefined> {
  if (!isPossibleName(client)) return undefined
  return isId('cli', client) ? findClientByUid(reader, client) : findClientByName(reader, foldName(client))
}

async function getClient(reader: Reader, client: string): Promise<ClientView> {
  const found = await findClient(reader, client)
  if (!found) throw notFound(`The client '${client}'`)
  return viewOf(reader, found)
}

async function viewOf(reader: Reader, client: ClientRow): Promise<ClientView> {
  return (await clientViews(reader, [client]))[0]!
}

/** The record for the audit log and for comparisons, with the API's field names. */
function recordOf(client: ClientView): Record<string, unknown> {
  return clientBody(client, 'everything')
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createClients({ db, clock, audit }: Dependencies) {
  const objectOf = ({ uid, name }: ClientRow) => ({ id: uid, name })

  function rowChange({ name, ...given }: ClientFields): ClientRowChange {
    const { email, address, taxId, currency, markupPpm, reminders, taxPpm, taxName } = given
    const fields = { email, address, taxId, currency, markupPpm, reminders, taxPpm, taxName }
    const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    return name === undefined ? changes : { ...changes, name: composeName(name), nameFolded: foldName(name) }
  }

  async function change(
    party: Party,
    client: string,
    action: ChangeAction,
    changing: ClientRowChange,
    people: ResponsibleFields = {},
  ): Promise<ClientView> {
    requireEverything(party)
    return db.write(async (tx) => {
      const before = await getClient(tx, client)
      if (changing.nameFolded !== undefined && changing.nameFolded !== before.nameFolded) {
        const holder = await findClientByName(tx, changing.nameFolded)
        if (holder) throw nameTaken(holder)
      }
      await changeResponsible(tx, 'client', before, people)
      const after = await viewOf(tx, await updateClient(tx, before.id, changing))
      const changed = difference(recordOf(before), recordOf(after))
      if (changed) await audit.record(tx, party.by, { action, object: objectOf(after), ...changed })
      return after
    })
  }

  return {
    clientRows: {
      list: (filter, page) => listClients(filter.search === undefined && !page.by ? db.read : db.slow, filter, page),
      keyOf: ({ id }) => id,
      pageAfter: pageAfterClient,
    } satisfies Rows<ClientFilter, keyof typeof CLIENT_SORTS, ClientView>,

    /** By id (`cli_…`) or name. Throws `not_found`. */
    getClient: (client: string): Promise<ClientView> => getClient(db.read, client),

    /** Throws `validation_failed`, and `already_exists` if a client already has the name. */
    async addClient(party: Party, fields: ClientFields & { name: string }): Promise<ClientView> {
      requireEverything(party)
      const row = { ...rowChange(fields), name: composeName(fields.name) }
      const issues = issuesOfClient({ ...fields, name: row.name })
      if (issues.length > 0) throw validationFailed(issues)
      return db.write(async (tx) => {
        const inserted = await insertClient(tx, row, clock.now())
        if (!inserted) throw nameTaken((await findClientByName(tx, foldName(row.name)))!)
        await changeResponsible(tx, 'client', { id: inserted.id, leads: [], approvers: [] }, fields)
        const added = await viewOf(tx, inserted)
        await audit.record(tx, party.by, { action: 'client.added', object: objectOf(added), after: recordOf(added) })
        return added
      })
    },

    /** Absent fields stay unchanged; null clears. Throws `validation_failed`, `not_found`, `already_exists` (name in use). */
    async changeClient(party: Party, client: string, fields: ClientFields): Promise<ClientView> {
      const changing = rowChange(fields)
      const issues = issuesOfClient({ ...fields, name: changing.name })
      requireEverything(party)
      if (issues.length > 0) throw validationFailed(issues)
      return change(party, client, 'client.changed', changing, fields)
    },

    /** Hides a client from lists. Its projects stay active and billable. */
    archiveClient: async (party: Party, client: string): Promise<ClientView> => {
      const { archivedAt } = await getClient(db.read, client)
      return change(party, client, 'client.archived', { archivedAt: archivedAt ?? clock.now() })
    },

    restoreClient: (party: Party, client: string): Promise<ClientView> =>
      change(party, client, 'client.restored', { archivedAt: null }),

    /** Removes an unused client. Throws `in_use` for any other. */
    removeClient(party: Party, client: string): Promise<void> {
      requireEverything(party)
      return db.write(async (tx) => {
        const found = await getClient(tx, client)
        const uses = await usesOfClient(tx, found.id)
        if (uses.length > 0) {
          throw new Problem('in_use', `The client '${found.name}' has ${uses.join(' and ')}. Archive it instead.`)
        }
        await deleteClient(tx, found.id)
        await audit.record(tx, party.by, { action: 'client.removed', object: objectOf(found), before: recordOf(found) })
      })
    },
  }
}
