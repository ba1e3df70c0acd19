/**
 * Versions of the objects that people change. A version stands for the recorded changes, so that it does not depend on
 * figures that change by themselves, such as the usage of a project (docs/design/api.md, "Concurrent changes").
 */
import { and, count, desc, eq, inArray, min, notInArray } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { type Id, isId } from '../../../lib/id.ts'

/** Recorded about a person or a bill without changing it. */
const NO_CHANGES = [
  'user.invited',
  'user.password_link_made',
  'user.sign_in_link_made',
  'user.sign_ins_slowed',
  'user.unlocked',
  'user.signed_out_everywhere',
  'bill.reminded',
]

/**
 * The number of changes, and the first one that retention has left. Not the last key: on PostgreSQL, those of connections
 * that draw them in advance are not in the order of the changes. Decisions about many entries are one row in the audit
 * log, but one for each entry in the history.
 */
async function changesOf(reader: Reader, objectId: string): Promise<string> {
  const { audit, entries, entryHistory } = reader.tables
  const [row] = isId('ent', objectId)
    ? await reader
        .select({ changes: count(), first: min(entryHistory.id) })
        .from(entryHistory)
        .innerJoin(entries, eq(entries.id, entryHistory.entryId))
        .where(eq(entries.uid, objectId))
    : await reader
        .select({ changes: count(), first: min(audit.id) })
        .from(audit)
        .where(isChange(reader, objectId))
  return changesText(row!)
}

interface Changes {
  changes: number
  first: number | null
}

const NO_CHANGE: Changes = { changes: 0, first: null }

const changesText = ({ changes, first }: Changes) => `${changes} ${first}`

function isChange({ tables: { audit } }: Reader, objectId: string) {
  return and(eq(audit.objectId, objectId), notInArray(audit.action, NO_CHANGES))
}

/** The version of an object as entity tags have it. */
export async function readVersion(reader: Reader, objectId: string): Promise<string> {
  return versionOf(objectId, await changesOf(reader, objectId))
}

/** Those of several objects whose changes are all in the audit log. */
export async function readVersions(reader: Reader, objectIds: readonly string[]): Promise<Map<string, string>> {
  const { audit } = reader.tables
  const rows = await reader
    .select({ id: audit.objectId, changes: count(), first: min(audit.id) })
    .from(audit)
    .where(and(inArray(audit.objectId, [...objectIds]), notInArray(audit.action, NO_CHANGES)))
    .groupBy(audit.objectId)
  const changes = new Map(rows.map((row) => [row.id, changesText(row)]))
  return new Map(objectIds.map((id) => [id, versionOf(id, changes.get(id) ?? changesText(NO_CHANGE))]))
}

/** It does not reveal how often the object was changed. */
function versionOf(objectId: string, changes: string): string {
  const hash = new Bun.CryptoHasher('sha256').update(`${objectId}:${changes}`)
  return hash.digest('base64url').slice(0, VERSION_CHARACTERS)
}

/** 72 bits. */
const VERSION_CHARACTERS = 12

/** A change of an object, and who made it; null for an agent, the command line and Tally itself. */
export interface LastChange {
  at: number
  user: { uid: Id<'usr'>; name: string } | null
}

/** Undefined if no change of the object is recorded. */
export async function findLastChange(reader: Reader, objectId: string): Promise<LastChange | undefined> {
  const { users, audit, entries, entryHistory } = reader.tables
  const user = { uid: users.uid, name: users.name }
  const [last] = isId('ent', objectId)
    ? await reader
        .select({ at: entryHistory.at, user })
        .from(entryHistory)
        .innerJoin(entries, eq(entries.id, entryHistory.entryId))
        .leftJoin(users, eq(users.id, entryHistory.userId))
        .where(eq(entries.uid, objectId))
        .orderBy(desc(entryHistory.at), desc(entryHistory.id))
        .limit(1)
    : await reader
        .select({ at: audit.at, user })
        .from(audit)
        .leftJoin(users, eq(users.id, audit.userId))
        .where(isChange(reader, objectId))
        .orderBy(desc(audit.at), desc(audit.id))
        .limit(1)
  return last
}
