import type { SlowDatabase, SlowSource } from '../slow/source.ts'
import { CLIENT_CHECK_MS, Lane, PATIENCE_MS } from './link.ts'
import { PostgresReader } from './reader.ts'
import { inOneState, readerOver } from './reading.ts'
import { Replica, readFrom } from './replica.ts'

/** Queries have no limit here: the server's process ends this one. */
const UNLIMITED_MS = 2 ** 31 - 1

export function slowPostgres({ url, replica }: Extract<SlowSource, { url: string }>): SlowDatabase {
  const settings = {
    client_connection_check_interval: CLIENT_CHECK_MS,
    idle_in_transaction_session_timeout: PATIENCE_MS,
  }
  const laneTo = (address: string, target: 'primary' | 'standby') =>
    new Lane({ url: address, connections: 1, target, settings }, PostgresReader)
  const newLane = () => laneTo(url, 'primary')
  const tasks = newLane()
  const reads =
    replica &&
    new Replica({
      primary: newLane(),
      newLane: () => laneTo(replica.url, 'standby'),
      waitMs: replica.waitMs,
      patienceMs: UNLIMITED_MS,
    })
  return {
    values() {
      throw new Error('The server sends the statements of single queries to PostgreSQL itself.')
    },
    inOneState(body, { onReplica, note }) {
      const here = () => inOneState(tasks.link, body)
      return reads && onReplica ? reads.read((link) => inOneState(link, body), here, note) : here()
    },
    openReader({ onReplica, note }) {
      const lane = newLane()
      if (reads && onReplica) readFrom(reads, lane.link.client, () => note)
      return { reader: readerOver(lane), close: () => lane.link.lose() }
    },
  }
}
