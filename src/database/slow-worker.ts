/** Runs one query after the other on a read-only connection; see slow.ts. */
import { Database as Connection, type SQLQueryBindings } from 'bun:sqlite'

declare const self: Worker

type Message = { open: string } | { id: number; sql: string; params: SQLQueryBindings[] }

let connection: Connection | undefined

self.onmessage = ({ data }: MessageEvent<Message>) => {
  if ('open' in data) {
    connection = new Connection(data.open, { readonly: true, safeIntegers: true })
    connection.run('PRAGMA busy_timeout = 5000')
    connection.run('PRAGMA temp_store = MEMORY')
    return
  }
  try {
    self.postMessage({ id: data.id, rows: connection!.query(data.sql).values(...data.params) })
  } catch (error) {
    // An error that is posted loses its code, by which errors.ts knows it.
    const { message, code } = error as { message: string; code?: string }
    self.postMessage({ id: data.id, error: { message, code } })
  }
}
