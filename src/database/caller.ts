import { AsyncLocalStorage } from 'node:async_hooks'

/** On whose behalf slow reads run. */
export interface DatabaseCaller {
  /** Aborted when nobody waits for the answer any more: what was asked is then stopped. */
  signal: AbortSignal
  /** Callers with the same key, such as the requests of one person, take turns with the others together. */
  key: number
}

const callers = new AsyncLocalStorage<DatabaseCaller>()

/** Runs `body` so that every slow read in it is the caller's. Without a caller, as in jobs, a read is never abandoned. */
export function onBehalfOf<Result>(caller: DatabaseCaller, body: () => Result): Result {
  return callers.run(caller, body)
}

export function currentCaller(): DatabaseCaller | undefined {
  return callers.getStore()
}
