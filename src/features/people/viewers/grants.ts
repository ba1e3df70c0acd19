/** What viewers see: an admin grants them clients and projects. */
import type { Actor } from '../../../access/actor.ts'
import type { Database, Reader } from '../../../database/database.ts'
import { Problem, refusal } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { AuditService } from '../../audit/service.ts'
import {
  deleteGrant,
  findGrant,
  type Grant,
  type GrantExtent,
  type GrantTarget,
  insertGrant,
  listGrants,
  updateGrant,
} from '../store/grants.ts'
import { type User, updateUser } from '../store/users.ts'

/** More than anyone needs, and few enough to be read with every request of a viewer. */
const GRANTS_LIMIT = 200

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  getUser: (reader: Reader, who: string) => Promise<User>
  /** For changes; throws `person_erased` as well. */
  getAccount: (reader: Reader, who: string) => Promise<User>
  userObject: (user: User) => { id: string; name: string }
}

export interface Granted {
  grant: Grant
  /** Whether it is new, rather than a change of one. */
  isNew: boolean
}

export function createGrants({ db, clock, audit, getUser, getAccount, userObject }: Dependencies) {
  return {
    /** By e-mail address or `usr_` id. Throws `not_found`. */
    listGrants: async (who: string): Promise<Grant[]> => listGrants(db.read, (await getUser(db.read, who)).id),

    /** Of the person with this key. */
    grantsOf: (reader: Reader, userId: number): Promise<Grant[]> => listGrants(reader, userId),

    /**
     * Grants a client or a project to a viewer, or changes how much of it they see. Throws `not_found` for the person,
     * and `validation_failed` for one with another role.
     */
    grant: (who: string, target: GrantTarget, extent: GrantExtent, by: Actor): Promise<Granted> =>
      db.write(async (tx) => {
        const user = await getAccount(tx, who)
        if (user.role !== 'viewer') throw notAViewer(user)
        // On PostgreSQL, of this and another change of the person at the same time one runs again.
        await updateUser(tx, user.id, { role: user.role })
        const before = await findGrant(tx, user.id, target)
        if (before) await updateGrant(tx, before.id, extent)
        else if ((await listGrants(tx, user.id)).length >= GRANTS_LIMIT) throw tooMany(user)
        else await insertGrant(tx, user.id, target, { ...extent, createdAt: clock.now() })
        const grant = (await findGrant(tx, user.id, target))!
        const [was, is] = [before && auditedGrant(before), auditedGrant(grant)]
        if (JSON.stringify(was) !== JSON.stringify(is)) {
          await audit.record(tx, by, {
            action: before ? 'user.grant_changed' : 'user.grant_added',
            object: userObject(user),
            ...(was && { before: was }),
            after: is,
          })
        }
        return { grant, isNew: !before }
      }),

    /** Takes effect at once. Throws `not_found` for a person or a grant that does not exist. */
    removeGrant: (who: string, target: GrantTarget, by: Actor): Promise<Grant> =>
      db.write(async (tx) => {
        const user = await getAccount(tx, who)
        const grant = await findGrant(tx, user.id, target)
        if (!grant) {
          throw new Problem(
            'not_found',
            `${user.email} has no grant of this client or project. \`tally users grants\` lists those they have.`,
          )
        }
        await deleteGrant(tx, grant.id)
        const before = auditedGrant(grant)
        await audit.record(tx, by, { action: 'user.grant_removed', object: userObject(user), before })
        return grant
      }),
  }
}

function notAViewer({ email, role }: User): Problem {
  const message = `${email} has the role ${role}, and grants are for viewers only; change the role first`
  return refusal('', 'not_allowed', message)
}

function tooMany({ email }: User): Problem {
  const message = `${email} has ${GRANTS_LIMIT} grants; grant a client instead of its projects, or remove some`
  return refusal('', 'too_many', message)
}

/** The audit log record of a grant. */
export function auditedGrant({ client, project, money, showsPeople, showsBills }: Omit<Grant, 'id' | 'createdAt'>) {
  return {
    ...(client ? { client: client.name } : { project: project!.key }),
    money,
    people: showsPeople,
    bills: showsBills,
  }
}
