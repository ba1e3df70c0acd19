/**
 * Requests of one session come one after the other: an agent often sends its logs and metrics at the same moment, and on
 * PostgreSQL each that commits would make all others that wait for the session run again. Other processes are kept
 * apart by the database.
 */
export class SessionTurns {
  /** What the last one to ask for a session waits for. */
  readonly #ends = new Map<string, Promise<unknown>>()

  /** Runs `work` when nobody before works on any of the sessions. All are asked for at once, so nobody waits in a circle. */
  take<Result>(sessions: Iterable<string>, work: () => Promise<Result>): Promise<Result> {
    const keys = [...new Set(sessions)]
    const before = keys.map((key) => this.#ends.get(key))
    const result = Promise.all(before).then(work)
    // Whoever comes next waits for the end and not for its success.
    const end = result.catch(() => undefined)
    for (const key of keys) this.#ends.set(key, end)
    void end.then(() => {
      for (const key of keys) if (this.#ends.get(key) === end) this.#ends.delete(key)
    })
    return result
  }
}
