/** The table `audit`. Rows are append-only, which triggers enforce. */
import { aliasedTable, and, desc, eq, gte, inArray, isNotNull, lt, not, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import { portionsOf } from '../../database/portions.ts'
import type { Tables } from '../../database/schema/tables.ts'
import { beginningWith, containing } from '../../database/search-pattern.ts'
import { type Id, isId } from '../../lib/id.ts'
import { foldName } from '../../lib/names.ts'
import type { ChangeAction } from '../../shared/change-sentences.ts'

type AuditRecord = Tables['audit']['$inferSelect']

export async function insertChange(tx: Tx, change: Omit<AuditRecord, 'id'>): Promise<void> {
  await tx.insert(tx.tables.audit).values(change)
}

/** Filters, all of which must match. */
export interface AuditFilter {
  /** Ids, or names at the time of the change, of objects that were changed or that the changed values refer to. */
  objects?: string[] | undefined
  /** Ids and e-mail addresses of the people who made the change, or for whom a deputy made it. */
  users?: string[] | undefined
  /** Actions or prefixes of them: `token`, `token.created`. */
  actions?: string[] | undefined
  /** Like `actions`, but excluded. */
  withoutActions?: string[] | undefined
  startingAt?: number | undefined
  endingAt?: number | undefined
  /**
   * A text contained in the action, the object, the origin or the changed values, ignoring the case of ASCII letters.
   */
  search?: string | undefined
}

/** A change and the person who made it. */
export interface AuditView extends Omit<AuditRecord, 'userId' | 'tokenId' | 'forId'> {
  user: { uid: Id<'usr'>; name: string; email: string } | null
  token: { uid: Id<'tok'>; name: string } | null
  /** The person for whom a deputy made it. */
  represented: { uid: Id<'usr'>; name: string; email: string } | null
  /** Ids in it of things that were removed, by this change or later. */
  removed: string[]
}

/** After these, the object does not exist any more. */
const REMOVALS: ChangeAction[] = [
  'bill_draft.removed',
  'client.removed',
  'funding_rule.removed',
  'placement_rule.removed',
  'project.removed',
  'sheet.removed',
  'ticket.removed',
  'webhook.removed',
]

const ID = /^[a-z]{3}_[0-9a-f]{32}$/
const IDS_IN_JSON = /(?<=")[a-z]{3}_[0-9a-f]{32}(?=")/g

/** Objects whose names are unique, so that a value that equals the name refers to the object. */
const UNIQUELY_NAMED = /^(cli|prj|tkt|usr)_/

/** The names that objects had when they were changed: some values refer to an object by its name only. */
async function namesOf(reader: Reader, objects: readonly string[]): Promise<string[]> {
  const ids = objects.filter((object) => ID.test(object) && UNIQUELY_NAMED.test(object))
  if (ids.length === 0) return []
  const { audit } = reader.tables
  const rows = await reader
    .selectDistinct({ name: audit.objectName })
    .from(audit)
    .where(and(inArray(audit.objectId, ids), isNotNull(audit.objectName)))
  return rows.map(({ name }) => name!)
}

/** Changes of the objects, and changes whose values refer to one of them, such as a merge into a project. */
function touching({ tables: { audit } }: Reader, objects: readonly string[], referredTo: readonly string[]): SQL {
  // Names have no index, so they are compared only if the filter contains one.
  const ids = objects.filter((object) => ID.test(object))
  const names = objects.filter((object) => !ID.test(object))
  const mentions = [...objects, ...referredTo].flatMap((value) =>
    [audit.before, audit.after].map((values) => {
      const text = sql`CAST(${values} AS text)`
      // As a whole value of the JSON, so that ACME does not match ACME-WEB. On SQLite, LIKE would ignore the case.
      return sql`replace(${text}, ${JSON.stringify(value)}, '') <> ${text}`
    }),
  )
  return or(
    ids.length > 0 ? inArray(audit.objectId, ids) : undefined,
    names.length > 0 ? inArray(audit.objectName, names) : undefined,
    ...mentions,
  )!
}

function conditionOf(reader: Reader, filter: AuditFilter, referredTo: readonly string[]): SQL | undefined {
  const { audit, users } = reader.tables
  const pattern = filter.search === undefined ? undefined : containing(filter.search.toLowerCase())
  // The dot prevents `price` from matching `price_alias.set`.
  const isAction = (action: string) =>
    or(eq(audit.action, action), sql`${audit.action} LIKE ${beginningWith(`${action}.`)} ESCAPE '!'`)
  const contains = (text: SQL | typeof audit.action) => sql`lower(${text}) LIKE ${pattern} ESCAPE '!'`
  const named = (people: string[]) =>
    reader
      .select({ id: users.id })
      .from(users)
      .where(
        or(
          inArray(users.email, people.map(foldName)),
          inArray(
            users.uid,
            people.filter((person) => isId('usr', person)),
          ),
        ),
      )
  return and(
    filter.objects && touching(reader, filter.objects, referredTo),
    filter.users && or(inArray(audit.userId, named(filter.users)), inArray(audit.forId, named(filter.users))),
    filter.actions && or(...filter.actions.map(isAction)),
    filter.withoutActions && not(or(...filter.withoutActions.map(isAction))!),
    filter.startingAt === undefined ? undefined : gte(audit.at, filter.startingAt),
    filter.endingAt === undefined ? undefined : lt(audit.at, filter.endingAt),
    pattern === undefined
      ? undefined
      : or(
          contains(audit.action),
          contains(sql`${audit.objectName}`),
          contains(sql`${audit.origin}`),
          contains(sql`${audit.before}`),
          contains(sql`${audit.after}`),
        ),
  )
}

/** Changes, newest first, starting after the key `after`. */
export async function listChanges(
  reader: Reader,
  filter: AuditFilter,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<AuditView[]> {
  const { audit, users, tokens } = reader.tables
  const represented = aliasedTable(users, 'represented')
  const referredTo = await namesOf(reader, filter.objects ?? [])
  const changes = await reader
    .select({
      id: audit.id,
      at: audit.at,
      origin: audit.origin,
      action: audit.action,
      objectId: audit.objectId,
      objectName: audit.objectName,
      before: audit.before,
      after: audit.after,
      user: { uid: users.uid, name: users.name, email: users.email },
      token: { uid: tokens.uid, name: tokens.name },
      represented: { uid: represented.uid, name: represented.name, email: represented.email },
    })
    .from(audit)
    .leftJoin(users, eq(users.id, audit.userId))
    .leftJoin(tokens, eq(tokens.id, audit.tokenId))
    .leftJoin(represented, eq(represented.id, audit.forId))
    .where(and(conditionOf(reader, filter, referredTo), after === undefined ? undefined : lt(audit.id, after)))
    .orderBy(desc(audit.id))
    .limit(limit)
  const idsOf = ({ objectId, before, after }: Pick<AuditRecord, 'objectId' | 'before' | 'after'>) =>
    new Set(JSON.stringify([objectId, before, after]).match(IDS_IN_JSON))
  const removed = await listRemoved(reader, [...new Set(changes.flatMap((change) => [...idsOf(change)]))])
  return changes.map((change) => ({ ...change, removed: [...idsOf(change)].filter((id) => removed.has(id)) }))
}

/** Which of the things were removed. */
async function listRemoved(reader: Reader, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const removed = new Set<string>()
  const { audit } = reader.tables
  for (const some of portionsOf(ids)) {
    const rows = await reader
      .select({ id: audit.objectId })
      .from(audit)
      .where(and(inArray(audit.objectId, some), inArray(audit.action, REMOVALS)))
    for (const { id } of rows) removed.add(id!)
  }
  return removed
}

/** The latest changes of one object with these actions, newest first. */
export async function listChangesOf(
  reader: Reader,
  { object, actions, limit }: { object: string; actions: readonly string[]; limit: number },
): Promise<AuditRecord[]> {
  const { audit } = reader.tables
  return reader
    .select()
    .from(audit)
    .where(and(eq(audit.objectId, object), inArray(audit.action, [...actions])))
    .orderBy(desc(audit.id))
    .limit(limit)
}
