/** Identities of the spans of counted model calls that a person's tokens have reported, in any session. */
import { and, eq, inArray, lt } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'

const DAY_MS = 86_400_000

/** Per run, so that others can write in between. */
const DELETED_AT_ONCE = 10_000

const dayOf = (moment: number) => Math.floor(moment / DAY_MS)

const bytesOf = (hex: string) => Buffer.from(hex, 'hex')

/** Those of the identities that are known. */
export async function listCalls(reader: Reader, userId: number, identities: string[]): Promise<string[]> {
  const { telemetryCalls: table } = reader.tables
  const known: string[] = []
  for (const portion of portionsOf(identities)) {
    const rows = await reader
      .select({ identity: table.identity })
      .from(table)
      .where(and(eq(table.userId, userId), inArray(table.identity, portion.map(bytesOf))))
    for (const { identity } of rows) known.push(Buffer.from(identity).toString('hex'))
  }
  return known
}

/** Another server may insert the same span around two calls. Sorted, so that they do not block each other. */
export async function insertCalls(tx: Tx, userId: number, identities: string[], now: number): Promise<void> {
  const day = dayOf(now)
  for (const portion of portionsOf(identities.toSorted())) {
    await tx
      .insert(tx.tables.telemetryCalls)
      .values(portion.map((identity) => ({ userId, identity: bytesOf(identity), day })))
      .onConflictDoNothing()
  }
}

/** Of calls that came on a day before, some. */
export async function listOldCalls(reader: Reader, before: number): Promise<Uint8Array[]> {
  const { telemetryCalls: table } = reader.tables
  const rows = await reader
    .select({ identity: table.identity })
    .from(table)
    .where(lt(table.day, dayOf(before)))
    .limit(DELETED_AT_ONCE)
  return rows.map(({ identity }) => identity)
}

/** Of these identities, those of calls that came on a day before. */
export async function deleteCalls(tx: Tx, identities: Uint8Array[], before: number): Promise<void> {
  const { telemetryCalls: table } = tx.tables
  for (const portion of portionsOf(identities)) {
    await tx.delete(table).where(and(inArray(table.identity, portion), lt(table.day, dayOf(before))))
  }
}
