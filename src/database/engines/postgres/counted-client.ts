import type { Sql } from 'postgres'
import type { StatementCounts } from '../../statement-counts.ts'

/** Makes a client count its statements. With one connection, those sent before an answer arrives share a round trip. */
export function countStatements(client: Sql, counts: StatementCounts): void {
  const known = new Set<string>()
  let unanswered = 0
  const answered = () => {
    unanswered -= 1
  }
  const unsafe = client.unsafe.bind(client) as (...args: unknown[]) => Promise<unknown>
  const counted = (sql: string, params?: unknown[], options?: { prepare?: boolean }) => {
    counts.executed += 1
    if (unanswered === 0) counts.roundTrips += 1
    unanswered += 1
    if (params && !(options?.prepare && known.has(sql))) counts.prepared += 1
    if (options?.prepare) known.add(sql)
    const query = unsafe(sql, params ?? [], options)
    query.then(answered, answered)
    return query
  }
  client.unsafe = counted as unknown as Sql['unsafe']
}
