/**
 * Deputies: a lead or approver names a person who approves for them between two days. A deputy gets an approver's
 * rights for what the other one leads or approves, and never a role or the right to name a deputy in turn.
 */
import type { Party } from '../../../access/actor.ts'
import type { Caller, Represented } from '../../../access/caller.ts'
import { approvedProjects } from '../../../access/visibility.ts'
import { Cached } from '../../../database/cached.ts'
import type { Database, Tx } from '../../../database/database.ts'
import { type Issue, notFound, Problem, refusal, validationFailed } from '../../../errors.ts'
import { addDays, isDay, spanOf } from '../../../lib/calendar.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isId } from '../../../lib/id.ts'
import { type Page, pageOf } from '../../../schema/lists.ts'
import { writeKeyPage } from '../../../schema/query.ts'
import type { AuditService } from '../../audit/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import {
  type Deputy,
  type DeputyScope,
  deleteDeputy,
  findDeputy,
  insertDeputy,
  listDeputies,
  listUnended,
} from '../store/deputies.ts'
import { findUserById, type User } from '../store/users.ts'
import { findUser } from '../users/users.ts'
import { issuesOfViewer } from '../viewers/role.ts'
import { type DeputyBody, deputyBody, type NewDeputy } from './schema.ts'

/** A longer absence needs another lead. */
const DAYS_LIMIT = 366

/** Current and future deputies of one person: more than anyone needs, and few enough to be checked with every call. */
const DEPUTIES_LIMIT = 20

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  organization: Pick<OrganizationService, 'settings'>
}

export function createDeputies({ db, clock, audit, organization }: Dependencies) {
  const held = new Cached(async (reader) =>
    Map.groupBy(await listUnended(reader, clock.now()), ({ deputy }) => deputy.id),
  )

  const scopeOf = ({ person }: Pick<Party, 'person'>): DeputyScope =>
    person === null || person.role === 'admin' ? null : person.id

  async function personOf(tx: Tx, who: string, pointer: string): Promise<User> {
    const user = await findUser(tx, who)
    if (!user) throw refused(pointer, 'unknown', `'${who}' is not the id or e-mail address of a person`)
    if (user.disabledAt !== null) throw refused(pointer, 'not_allowed', `${user.email} is disabled`)
    const issues = issuesOfViewer(user, pointer, 'approve nothing')
    if (issues.length > 0) throw validationFailed(issues)
    return user
  }

  async function representedBy(tx: Tx, who: string | undefined, person: Party['person']): Promise<User> {
    const self = person === null ? undefined : await findUserById(tx, person.id)
    if (who === undefined && !self)
      throw refused('/person', 'required', 'is required: specify for whom the deputy approves')
    const named = who === undefined ? self! : await personOf(tx, who, '/person')
    if (person === null || person.role === 'admin' || named.id === person.id) return named
    throw new Problem('forbidden', 'To name a deputy of another person, you need the role admin.')
  }

  return {
    /** A page of the deputies that a person named, and of those for whom they are the deputy; of everyone for admins. */
    async listDeputies(
      party: Pick<Party, 'person'>,
      { after, limit }: { after: number | undefined; limit: number },
    ): Promise<Page<DeputyBody>> {
      const found = await listDeputies(db.read, scopeOf(party), { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ record }) => writeKeyPage(record.id))
      return { ...page, data: page.data.map((deputy) => deputyBody(deputy, clock.now())) }
    },

    /**
     * Names a deputy: of oneself, or of anybody for an admin or the command line. Throws `forbidden`, and
     * `validation_failed`, also for a person who leads and approves nothing.
     */
    addDeputy: ({ person: who, deputy: other, from, to }: NewDeputy, { person, by }: Party): Promise<DeputyBody> =>
      db.write(async (tx) => {
        const represented = await representedBy(tx, who, person)
        if (!(await approvesAnything(tx, represented.id))) throw nothingToApprove(represented)
        const deputy = await personOf(tx, other, '/deputy')
        const now = clock.now()
        const issues = issuesOf({ from, to }, represented.id === deputy.id)
        if (issues.length > 0) throw validationFailed(issues)
        const span = spanOf({ from, to }, (await organization.settings(tx)).timeZone)
        if (span.endingAt <= now) {
          throw refused('/to', 'too_small', 'must not be in the past')
        }
        if ((await listUnended(tx, now, represented.id)).length >= DEPUTIES_LIMIT) throw tooMany()
        const uid = await insertDeputy(tx, {
          personId: represented.id,
          deputyId: deputy.id,
          firstDay: from,
          lastDay: to,
          startsAt: span.startingAt,
          endsAt: span.endingAt,
          createdAt: now,
        })
        const object = { id: represented.uid, name: represented.email }
        await audit.record(tx, by, { action: 'deputy.named', object, after: { deputy: deputy.email, from, to } })
        return deputyBody((await findDeputy(tx, uid, null))!, now)
      }),

    /** Ends or cancels it. The person, their deputy and admins may. Throws `not_found`. */
    removeDeputy: (uid: string, { person, by }: Party): Promise<DeputyBody> =>
      db.write(async (tx) => {
        const found = isId('dep', uid) ? await findDeputy(tx, uid, scopeOf({ person })) : undefined
        if (!found) throw notFound(`The deputy '${uid}'`)
        await deleteDeputy(tx, found.record.id)
        const { firstDay: from, lastDay: to } = found.record
        await audit.record(tx, by, {
          action: 'deputy.removed',
          object: { id: found.person.uid, name: found.person.email },
          before: { deputy: found.deputy.email, from, to },
        })
        return deputyBody(found, clock.now())
      }),

    /** The same caller, with those whose deputy they are now. Not a promise if the deputies are cached. */
    withRepresented<Known extends Caller>(caller: Known): Known | Promise<Known> {
      if (caller.person.role !== 'member') return caller
      const deputies = held.get(db.read)
      return deputies instanceof Promise
        ? deputies.then((known) => represent(caller, known, clock.now()))
        : represent(caller, deputies, clock.now())
    },
  }
}

function represent<Known extends Caller>(caller: Known, deputies: Map<number, Deputy[]>, now: number): Known {
  const named = deputies.get(caller.person.id)
  if (!named) return caller
  const people = named
    .filter(({ record }) => record.startsAt <= now && now < record.endsAt)
    .map(({ person: { id, uid, name } }): [number, Represented] => [id, { id, uid, name }])
  return { ...caller, person: { ...caller.person, actsFor: [...new Map(people).values()] } }
}

async function approvesAnything(tx: Tx, userId: number): Promise<boolean> {
  return (await approvedProjects(tx, [userId]).limit(1)).length > 0
}

function issuesOf({ from, to }: Pick<NewDeputy, 'from' | 'to'>, isSame: boolean): Issue[] {
  const issues: Issue[] = []
  for (const [pointer, text] of [
    ['/from', from],
    ['/to', to],
  ] as const) {
    if (!isDay(text)) issues.push({ pointer, code: 'no_such_time', message: 'is not a valid date' })
  }
  if (issues.length === 0 && to < from) {
    issues.push({ pointer: '/to', code: 'ends_before_start', message: 'must not be earlier than from' })
  }
  if (issues.length === 0 && addDays(from, DAYS_LIMIT) <= to) {
    issues.push({ pointer: '/to', code: 'too_large', message: `must be within ${DAYS_LIMIT} days of from` })
  }
  if (isSame) issues.push({ pointer: '/deputy', code: 'not_allowed', message: 'must be another person' })
  return issues
}

function refused(pointer: string, code: string, message: string): Problem {
  return refusal(pointer, code, message)
}

function nothingToApprove({ name }: User): Problem {
  return refused(
    '/person',
    'not_allowed',
    `${name} leads no project or client and approves for none, so there is nothing that a deputy could approve; the rights of a role are not passed on`,
  )
}

function tooMany(): Problem {
  return refused('/person', 'too_many', `has ${DEPUTIES_LIMIT} current and upcoming deputies already; remove one first`)
}
