/**
 * Viewers see what was granted to them, and do nothing: they have no tokens, entries, sheets or responsibilities. Here is
 * what that means for people who become one, are one, or no longer are.
 */

import type { Actor } from '../../../access/actor.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Role } from '../../../database/schema/values.ts'
import { type Issue, Problem } from '../../../errors.ts'
import { counted } from '../../../lib/counted.ts'
import type { AuditService } from '../../audit/service.ts'
import { countDuties, type Duties } from '../store/duties.ts'
import { deleteGrantsOf, listGrants } from '../store/grants.ts'
import type { User } from '../store/users.ts'
import { auditedGrant } from './grants.ts'

/** The issue of naming somebody for what a viewer cannot be or have. */
export function issuesOfViewer({ email, role }: Pick<User, 'email' | 'role'>, pointer: string, what: string): Issue[] {
  if (role !== 'viewer') return []
  return [{ pointer, code: 'not_allowed', message: `${email} has the role viewer, and viewers ${what}` }]
}

/** What to remove first, by what there is. */
const REMEDIES: Record<keyof Duties, (found: number) => string> = {
  tokens: (found) => `revoke their ${counted(found, 'token')}`,
  trusts: (found) => `remove the ${counted(found, 'trust')} whose jobs report for them`,
  shareLinks: (found) => `revoke their ${counted(found, 'share link')}`,
  sheets: (found) => `settle their ${counted(found, 'token sheet')} that ${found === 1 ? 'is' : 'are'} not approved`,
  led: (found) => `remove them as lead of ${counted(found, 'client or project', 'clients and projects')}`,
  approved: (found) => `remove them as approver of ${counted(found, 'client or project', 'clients and projects')}`,
  deputies: (found) => `end ${counted(found, 'deputization')} by or of them`,
}

async function requireNoDuties(reader: Reader, user: User, now: number): Promise<void> {
  const duties = await countDuties(reader, user.id, now)
  const remedies = (Object.keys(REMEDIES) as (keyof Duties)[])
    .filter((name) => duties[name] > 0)
    .map((name) => REMEDIES[name](duties[name]))
  if (remedies.length === 0) return
  throw new Problem(
    'has_duties',
    `${user.name} (${user.email}) cannot become a viewer yet, because viewers only look at what is shared with them. First ${remedies.join(', ')}.`,
  )
}

/**
 * Before somebody gets another role. Who becomes a viewer must have nothing that a viewer may not have: throws
 * `has_duties`. Who no longer is one loses the grants, which they would otherwise get back unnoticed.
 */
export async function prepareRoleChange(
  tx: Tx,
  user: User,
  { role, by, now, audit }: { role: Role; by: Actor; now: number; audit: Pick<AuditService, 'record'> },
): Promise<void> {
  if (role === user.role) return
  if (role === 'viewer') await requireNoDuties(tx, user, now)
  else if (user.role !== 'viewer') return
  for (const grant of await listGrants(tx, user.id)) {
    const object = { id: user.uid, name: user.email }
    await audit.record(tx, by, { action: 'user.grant_removed', object, before: auditedGrant(grant) })
  }
  await deleteGrantsOf(tx, user.id)
}
