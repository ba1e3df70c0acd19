/** Dry runs execute the real code and roll it back, so that their result is exact. */
import type { Database, Tx, WriteOptions } from './database.ts'

/** Carries the result out of the transaction that is rolled back. */
class RolledBack {
  constructor(readonly outcome: unknown) {}
}

/** The result that the body would have. */
export async function rehearse<Outcome>(
  db: Database,
  body: (tx: Tx) => Promise<Outcome>,
  options?: WriteOptions,
): Promise<Outcome> {
  try {
    return await db.write(async (tx) => {
      throw new RolledBack(await body(tx))
    }, options)
  } catch (ended) {
    if (ended instanceof RolledBack) return ended.outcome as Outcome
    throw ended
  }
}
