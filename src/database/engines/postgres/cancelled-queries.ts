import type { Sql } from 'postgres'
import { currentCaller } from '../../caller.ts'
import { abandoned } from '../../errors.ts'

/** Ends a transaction, whoever is still there. */
export const ROLLBACK = 'ROLLBACK'

/**
 * Makes the server cancel a client's queries when their callers are gone, and after `deadlineMs` if the server itself
 * does not limit their time.
 */
export function cancelWithCallers(client: Sql, deadlineMs?: number): void {
  const unsafe = client.unsafe.bind(client)
  const cancelled = (...args: Parameters<Sql['unsafe']>) => {
    const signal = currentCaller()?.signal
    if (signal?.aborted && args[0] !== ROLLBACK) throw abandoned()
    const query = unsafe(...args)
    const cancel = () => query.cancel()
    const timer = deadlineMs === undefined ? undefined : setTimeout(cancel, deadlineMs)
    const settled = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
    }
    signal?.addEventListener('abort', cancel)
    query.then(settled, settled)
    return query
  }
  client.unsafe = cancelled as Sql['unsafe']
}
