/** What Tally notices: tokens that expire, and who had usage on which day. */
import { and, eq, gt, gte, inArray, isNull, lt, lte, max, ne } from 'drizzle-orm'
import type { Reader } from '../../database/database.ts'
import type { Span } from '../../lib/calendar.ts'
import type { Id } from '../../lib/id.ts'
import type { Usage } from './days.ts'

export interface ExpiringToken {
  id: number
  uid: Id<'tok'>
  name: string
  kind: string
  expiresAt: number
  creator: { uid: Id<'usr'>; name: string }
}

/** Tokens that expire after one moment, and at the latest at another one. */
export async function listExpiring(reader: Reader, after: number, until: number): Promise<ExpiringToken[]> {
  const { tokens, users } = reader.tables
  const rows = await reader
    .select({
      id: tokens.id,
      uid: tokens.uid,
      name: tokens.name,
      kind: tokens.kind,
      expiresAt: tokens.expiresAt,
      creator: { uid: users.uid, name: users.name },
    })
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(
      and(
        isNull(tokens.revokedAt),
        isNull(users.disabledAt),
        gt(tokens.expiresAt, after),
        lte(tokens.expiresAt, until),
      ),
    )
  return rows.map((row) => ({ ...row, expiresAt: row.expiresAt! }))
}

/** Whose agents of which harness reported sessions that began in the span. */
export async function listUsage(reader: Reader, { startingAt, endingAt }: Span): Promise<Usage[]> {
  const { entries } = reader.tables
  return reader
    .selectDistinct({ managerId: entries.managerId, harnessId: entries.harnessId })
    .from(entries)
    .where(and(gte(entries.startedAt, startingAt), lt(entries.startedAt, endingAt), ne(entries.source, 'sheet')))
}

/** The end of the last usage of sessions that began after a moment; null if there is none. */
export async function findLastUse(reader: Reader, usage: Usage, since: number): Promise<number | null> {
  const { entries } = reader.tables
  const [row] = await reader
    .select({ endedAt: max(entries.endedAt) })
    .from(entries)
    .where(
      and(
        eq(entries.managerId, usage.managerId),
        gte(entries.startedAt, since),
        eq(entries.harnessId, usage.harnessId),
        ne(entries.source, 'sheet'),
      ),
    )
  return row?.endedAt ?? null
}

/** The people and harnesses with these keys; without people who are disabled. */
export async function listNames(reader: Reader, usages: readonly Usage[]) {
  const { users, names } = reader.tables
  const people = await reader
    .select({ id: users.id, uid: users.uid, name: users.name })
    .from(users)
    .where(and(inArray(users.id, [...new Set(usages.map(({ managerId }) => managerId))]), isNull(users.disabledAt)))
  const harnesses = await reader
    .select({ id: names.id, text: names.text })
    .from(names)
    .where(inArray(names.id, [...new Set(usages.map(({ harnessId }) => harnessId))]))
  return {
    people: new Map(people.map((person) => [person.id, person])),
    harnesses: new Map(harnesses.map(({ id, text }) => [id, text])),
  }
}
