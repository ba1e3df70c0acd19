/** Changes who leads a project or client, and who approves its entries. */
import type { Reader, Tx } from '../../database/database.ts'
import { validationFailed } from '../../errors.ts'
import type { ResponsibleFields } from './fields.ts'
import { findPerson, type Responsibility, type Responsible, replaceResponsible } from './store/responsible.ts'

interface Owner {
  id: number
  leads: Responsible[]
  approvers: Responsible[]
}

/** Throws `validation_failed` for people who do not exist. */
export async function changeResponsible(
  tx: Tx,
  what: 'project' | 'client',
  owner: Owner,
  fields: ResponsibleFields,
): Promise<void> {
  const { leads, addLeads, removeLeads, approvers, addApprovers, removeApprovers } = fields
  await change(tx, `${what}Leads`, owner.id, owner.leads, '/leads', [leads, addLeads, removeLeads])
  await change(tx, `${what}Approvers`, owner.id, owner.approvers, '/approvers', [
    approvers,
    addApprovers,
    removeApprovers,
  ])
}

type Change = [all: string[] | undefined, added: string[] | undefined, removed: string[] | undefined]

async function change(
  tx: Tx,
  responsibility: Responsibility,
  ownerId: number,
  before: Responsible[],
  pointer: string,
  [all, added, removed]: Change,
): Promise<void> {
  if (!all && !added && !removed) return
  const ids = new Set(all ? [] : before.map(({ id }) => id))
  for (const [index, who] of (all ?? added ?? []).entries()) ids.add(await idOf(tx, who, `${pointer}/${index}`))
  for (const who of removed ?? []) ids.delete(await idOf(tx, who, pointer))
  await replaceResponsible(tx, responsibility, ownerId, [...ids])
}

async function idOf(reader: Reader, who: string, pointer: string): Promise<number> {
  const found = await findPerson(reader, who)
  if (found) return found.id
  throw validationFailed([
    { pointer, code: 'unknown', message: `'${who}' is not the id or e-mail address of a person` },
  ])
}
