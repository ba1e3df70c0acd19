/** Tokens that an export has revoked. */
import { asc, eq } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'

export function listTokensRevokedAt(reader: Reader, revokedAt: number) {
  const { tokens, users } = reader.tables
  return reader
    .select({ id: tokens.uid, kind: tokens.kind, name: tokens.name, created_by: users.email })
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(eq(tokens.revokedAt, revokedAt))
    .orderBy(asc(tokens.id))
}
