/** Runs queries one at a time on a read-only connection; see slow-reads.ts. */
import { Database as Connection, type SQLQueryBindings } from 'bun:sqlite'
import { setPriority } from 'node:os'

declare const self: Worker

type Message = { open: string } | { sql: string; params: SQLQueryBindings[] }

/** Lower priority than the main thread if cores are few; no effect if one is free. */
const NICENESS = 10

let connection: Connection | undefined

self.onmessage = ({ data }: MessageEvent<Message>) => {
  if ('open' in data) {
    // Only on Linux does this apply to the calling thread alone; elsewhere it would apply to the whole process.
    if (process.platform === 'linux') setPriority(0, NICENESS)
    connection = new Connection(data.open, { readonly: true, safeIntegers: true })
    connection.run('PRAGMA busy_timeout = 5000')
    connection.run('PRAGMA temp_store = MEMORY')
    return
  }
  try {
    const rows = connection!.query(data.sql).values(...data.params) as unknown[][]
    for (const row of rows) for (let at = 0; at < row.length; at += 1) row[at] = asPlain(row[at])
    self.postMessage({ rows })
  } catch (error) {
    // A posted error loses its code, which errors.ts needs.
    const { message, code } = error as { message: string; code?: string }
    self.postMessage({ error: { message, code } })
  }
}

/** Converts bigints to numbers if that is exact: the main thread takes twice as long to deserialize bigints. */
function asPlain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
