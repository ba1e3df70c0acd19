/** The calls of tokens at all servers of a database, for their common limit. */
import type { Database } from '../../../database/database.ts'
import { findTokenCalls, saveTokenCalls } from '../store/token-calls.ts'

/** Servers that have not heard of each other may allow more than a minute's share. What is beyond twice as much is forgotten: a clock was set back. */
const LONGEST_BUSY_MS = 120_000

export interface Calls {
  tokenId: number
  /** The time in which the token's share is restored. */
  busyMs: number
}

/**
 * Adds calls of different tokens to those of all servers. Returns, in the same order, when the share of each token is full again. The
 * clocks of servers may differ: by as much, one of them takes tokens for busier than they are.
 */
export async function shareCalls(db: Database, calls: readonly Calls[], now: number): Promise<number[]> {
  return db.write(
    async (tx) => {
      await tx.lockAll(() => calls.map(({ tokenId }) => `calls of token ${tokenId}`))
      const found = await findTokenCalls(
        tx,
        calls.map(({ tokenId }) => tokenId),
      )
      const known = new Map(found.map(({ tokenId, fullAt }) => [tokenId, fullAt]))
      const rows = calls.map(({ tokenId, busyMs }) => {
        const fullAt = Math.min(Math.max(known.get(tokenId) ?? now, now), now + LONGEST_BUSY_MS) + busyMs
        return { tokenId, fullAt }
      })
      await saveTokenCalls(tx, rows)
      return rows.map(({ fullAt }) => fullAt)
    },
    { isolation: 'read committed' },
  )
}
