/** Runs one query after the other on a read-only connection; see slow.ts. */
import { Database as Connection, type SQLQueryBindings } from 'bun:sqlite'
import { setPriority } from 'node:os'

declare const self: Worker

type Message = { open: string } | { sql: string; params: SQLQueryBindings[] }

/** Behind the main thread where cores are few, and behind nothing where one is free. */
const NICENESS = 10

let connection: Connection | undefined

self.onmessage = ({ data }: MessageEvent<Message>) => {
  if ('open' in data) {
    // Linux alone takes this for the calling thread; elsewhere it would be the whole process.
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
    // An error that is posted loses its code, by which errors.ts knows it.
    const { message, code } = error as { message: string; code?: string }
    self.postMessage({ error: { message, code } })
  }
}

/** Takes numbers for bigints where they are exact: the main thread is twice as long at unpacking bigints. */
function asPlain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
