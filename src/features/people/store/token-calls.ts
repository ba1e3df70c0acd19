/** The table `token_calls`: how busy tokens are, of all servers that share the database. */
import { inArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'

export interface TokenCalls {
  tokenId: number
  /** When its share of calls is full again. */
  fullAt: number
}

export async function findTokenCalls(reader: Reader, tokenIds: number[]): Promise<TokenCalls[]> {
  const { tokenCalls } = reader.tables
  return reader.select().from(tokenCalls).where(inArray(tokenCalls.tokenId, tokenIds))
}

export async function saveTokenCalls(tx: Tx, rows: TokenCalls[]): Promise<void> {
  const { tokenCalls } = tx.tables
  const fullAt = sql.raw('excluded.full_at')
  await tx.insert(tokenCalls).values(rows).onConflictDoUpdate({ target: tokenCalls.tokenId, set: { fullAt } })
}
