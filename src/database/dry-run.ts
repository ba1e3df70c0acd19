/** Dry runs execute the real code and roll it back, so that their result is exact. */
import type { Database, Tx, WriteOptions } from './database.ts'

/** Carries the result out of the transaction that is rolled back. */
class RolledBack {
  constructor(readonly outcome: unknown) {}
}

/** Above the ids of all rows, and exact as a number of JavaScript. */
const FIRST_UNUSED_ID = 2 ** 52

/** Ids of rows that a dry run plans and does not write: on PostgreSQL, reserved ones would be used up. */
export class UnusedIds {
  #next = FIRST_UNUSED_ID
  readonly #byText = new Map<string, number>()

  take(count: number): number[] {
    const first = this.#next
    this.#next += count
    return Array.from({ length: count }, (_, position) => first + position)
  }

  /** Always the same for a text. */
  of(text: string): number {
    const id = this.#byText.get(text) ?? this.take(1)[0]!
    this.#byText.set(text, id)
    return id
  }
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
