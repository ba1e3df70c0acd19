import { setImmediate } from 'node:timers/promises'

/**
 * A read that all calls of one turn of the event loop share: requests that arrive together send one query instead of one
 * each. It begins after the last of these calls, so that each sees what was committed before it.
 */
export function oncePerTurn<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let shared: Promise<Result> | undefined
  return () => {
    shared ??= (async () => {
      await setImmediate()
      shared = undefined
      return read()
    })()
    return shared
  }
}
