import { AsyncLocalStorage } from 'node:async_hooks'

/** On whose behalf slow reads run. */
export interface DatabaseCaller {
  /** Aborted when nobody waits for the answer any more: what was asked is then stopped. */
  signal: AbortSignal
  /** Callers with the same key, such as the requests of one person, take turns with the others together. */
  key: number
  /** Which server answered, where there is a replica: the primary if it answered any of the reads. */
  readFrom?: ReadSource
}

export type ReadSource = 'replica' | 'primary'

/**
 * Whether a replica answers reads: it is used, it lags behind, it does not respond, or what is at its address is not a
 * replica of the primary. The primary answers instead.
 */
export type ReplicaState = 'used' | 'lagging' | 'unreachable' | 'not_a_replica'

export function noteSource(caller: DatabaseCaller, from: ReadSource): void {
  if (caller.readFrom !== 'primary') caller.readFrom = from
}

const callers = new AsyncLocalStorage<DatabaseCaller>()

/** Runs `body` so that every slow read in it is the caller's. Without a caller, as in jobs, a read is never abandoned. */
export function onBehalfOf<Result>(caller: DatabaseCaller, body: () => Result): Result {
  return callers.run(caller, body)
}

export function currentCaller(): DatabaseCaller | undefined {
  return callers.getStore()
}
