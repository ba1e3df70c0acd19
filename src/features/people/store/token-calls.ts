/** The table `token_calls`: how busy tokens are, of all servers that share the database. */
import { inArray } from 'drizzle-orm'
import { addedValue } from '../../../database/added-value.ts'
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
  await tx
    .insert(tokenCalls)
    .values(rows)
    .onConflictDoUpdate({ target: tokenCalls.tokenId, set: { fullAt: addedValue(tokenCalls.fullAt) } })
}
