/** Changes who leads a project or client, and who approves its entries. */
import type { Reader, Tx } from '../../database/database.ts'
import { type Problem, refusal } from '../../errors.ts'
import type { ResponsibleFields } from './fields.ts'
import { findPerson, type Responsibility, type Responsible, replaceResponsible } from './store/responsible.ts'

interface Owner {
  id: number
  leads: Responsible[]
  approvers: Responsible[]
}

/** Throws `validation_failed` for people who do not exist, and for viewers. */
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
  for (const [index, who] of (all ?? added ?? []).entries()) {
    const at = `${pointer}/${index}`
    const { id, role } = await personOf(tx, who, at)
    if (role === 'viewer') throw isViewer(who, at)
    ids.add(id)
  }
  for (const who of removed ?? []) ids.delete((await personOf(tx, who, pointer)).id)
  await replaceResponsible(tx, responsibility, ownerId, [...ids])
}

function isViewer(who: string, pointer: string): Problem {
  const message = `${who} has the role viewer, and viewers lead and approve nothing`
  return refusal(pointer, 'not_allowed', message)
}

async function personOf(reader: Reader, who: string, pointer: string) {
  const found = await findPerson(reader, who)
  if (found) return found
  throw refusal(pointer, 'unknown', `'${who}' is not the id or e-mail address of a person`)
}
