import type { SlowDatabase } from '../slow/source.ts'
import { Lane, PATIENCE_MS } from './link.ts'
import { PostgresReader } from './reader.ts'
import { inOneState, readerOver } from './reading.ts'

/**
 * How often the server checks during a query whether this process is still there: a process that is killed cancels
 * nothing.
 */
const CLIENT_CHECK_MS = 100

export function slowPostgres(url: string): SlowDatabase {
  const settings = {
    client_connection_check_interval: CLIENT_CHECK_MS,
    idle_in_transaction_session_timeout: PATIENCE_MS,
  }
  const newLane = () => new Lane({ url, connections: 1, settings }, PostgresReader)
  const tasks = newLane()
  return {
    values() {
      throw new Error('The server sends the statements of single queries to PostgreSQL itself.')
    },
    inOneState: (body) => inOneState(tasks.link, body),
    openReader() {
      const lane = newLane()
      return { reader: readerOver(lane), close: () => lane.link.lose() }
    },
  }
}
