/**
 * Serializes requests of the same session: an agent often sends its logs and metrics at the same moment, and on
 * PostgreSQL each commit would cause all other transactions that wait for the session to be retried. The database
 * separates other processes.
 */
export class SessionTurns {
  /** The end of the last queued work of each session. */
  readonly #ends = new Map<string, Promise<unknown>>()

  /**
   * Runs `work` after all earlier work on any of the sessions. All are requested at once, so there are no deadlocks.
   */
  take<Result>(sessions: Iterable<string>, work: () => Promise<Result>): Promise<Result> {
    const keys = [...new Set(sessions)]
    const before = keys.map((key) => this.#ends.get(key))
    const result = Promise.all(before).then(work)
    // The next one waits for the end, whether it succeeds or fails.
    const end = result.catch(() => undefined)
    for (const key of keys) this.#ends.set(key, end)
    void end.then(() => {
      for (const key of keys) if (this.#ends.get(key) === end) this.#ends.delete(key)
    })
    return result
  }
}
