/** Additional e-mail addresses of people, which match telemetry sessions to them. They cannot be used to sign in. */

import type { Actor } from '../../../access/actor.ts'
import type { Person } from '../../../access/caller.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { Problem, validationFailed } from '../../../errors.ts'
import { foldEmail, issuesOfEmail } from '../../../schema/fields.ts'
import { type AuditService, difference } from '../../audit/service.ts'
import { deleteFurtherEmails, findUserByFurtherEmail, insertFurtherEmails, listFurtherEmails } from '../store/emails.ts'
import { findUserByEmail, type User } from '../store/users.ts'

/** No one uses more names than that; a longer list is a mistake. */
const EMAILS_LIMIT = 20

function emailTaken(email: string, { name }: Pick<Person, 'name'>): Problem {
  return new Problem(
    'already_exists',
    `The e-mail address ${email} already belongs to ${name}. Remove it from that person first.`,
  )
}

export interface FurtherEmails {
  user: User
  emails: string[]
}

interface Dependencies {
  db: Database
  audit: AuditService
  getUser(reader: Reader, user: string): Promise<User>
  /** Throws `person_erased` as well. */
  getAccount(reader: Reader, user: string): Promise<User>
  userObject(user: User): { id: string; name: string }
}

/** The person with this address, primary or additional; also a disabled person, since it is still their usage. */
async function findPersonByEmail(reader: Reader, given: string): Promise<Person | undefined> {
  const email = foldEmail(given)
  return (await findUserByEmail(reader, email)) ?? findUserByFurtherEmail(reader, email)
}

export function createEmails({ db, audit, getUser, getAccount, userObject }: Dependencies) {
  async function change(tx: Tx, user: User, wanted: string[], by: Actor): Promise<FurtherEmails> {
    const before = await listFurtherEmails(tx, user.id)
    const added = wanted.filter((email) => !before.includes(email))
    for (const email of added) {
      const other = await findPersonByEmail(tx, email)
      if (other) throw emailTaken(email, other)
    }
    await deleteFurtherEmails(
      tx,
      before.filter((email) => !wanted.includes(email)),
    )
    await insertFurtherEmails(tx, user.id, added)
    const changes = difference({ further_emails: before.join(', ') }, { further_emails: wanted.join(', ') })
    if (changes) await audit.record(tx, by, { action: 'user.emails_changed', object: userObject(user), ...changes })
    return { user, emails: wanted }
  }

  return {
    findPersonByEmail,

    /** By e-mail address or `usr_` id. Throws `not_found`. */
    async getFurtherEmails(who: string): Promise<FurtherEmails> {
      const user = await getUser(db.read, who)
      return { user, emails: await listFurtherEmails(db.read, user.id) }
    },

    /**
     * Replaces a person's additional addresses. Existing sessions do not move: see `tally telemetry assign`. Throws
     * `validation_failed`, and `already_exists` if an address belongs to another person.
     */
    async setFurtherEmails(who: string, given: string[], by: Actor): Promise<FurtherEmails> {
      const emails = [...new Set(given.map(foldEmail))].sort()
      const issues = emails.flatMap((email) => issuesOfEmail(email, `/emails/${given.map(foldEmail).indexOf(email)}`))
      if (emails.length > EMAILS_LIMIT) {
        issues.push({ pointer: '/emails', code: 'too_many', message: `must be at most ${EMAILS_LIMIT}` })
      }
      if (issues.length > 0) throw validationFailed(issues)
      return db.write(async (tx) => change(tx, await getAccount(tx, who), emails, by))
    },

    /** As {@link setFurtherEmails}, with addresses to add and to remove. */
    async changeFurtherEmails(
      who: string,
      { add, remove }: { add: string[]; remove: string[] },
      by: Actor,
    ): Promise<FurtherEmails> {
      const { emails } = await this.getFurtherEmails(who)
      const removed = remove.map(foldEmail)
      return this.setFurtherEmails(who, [...emails.filter((email) => !removed.includes(email)), ...add], by)
    },
  }
}
