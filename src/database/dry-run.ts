/** Dry runs: the same is done, and taken back, so that they say exactly what would happen. */
import type { Database, Tx } from './database.ts'

/** Carries what was found out of the transaction that it ends. */
class RolledBack {
  constructor(readonly outcome: unknown) {}
}

/** What the body would have come to. */
export async function rehearse<Outcome>(db: Database, body: (tx: Tx) => Promise<Outcome>): Promise<Outcome> {
  try {
    return await db.write(async (tx) => {
      throw new RolledBack(await body(tx))
    })
  } catch (ended) {
    if (ended instanceof RolledBack) return ended.outcome as Outcome
    throw ended
  }
}
