/**
 * PGlite, PostgreSQL in WebAssembly, behind a socket: what store tests use where there is no real server.
 *
 * It is a single session. A connection has it from its first message until the server says that no transaction is
 * open, and the others wait; so transactions are whole, but no two ever race, and settings such as `statement_timeout`
 * do nothing.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'

interface Connection {
  socket: Socket
  received: Buffer
  greeted: boolean
  searchPath: string | undefined
  messages: Buffer[]
}

/** AuthenticationOk, then ReadyForQuery outside a transaction. */
const GREETING = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])
const READY_FOR_QUERY = 0x5a
const TERMINATE = 0x58
const OUTSIDE_TRANSACTION = 0x49

/** Listens until the process ends. Returns the port. */
export async function servePglite(): Promise<number> {
  const session = await PGlite.create()
  // Tally takes a server that ignores the settings of connections for a pooler.
  await session.exec(`SET lock_timeout = '1min'`)
  const connections = new Set<Connection>()
  let holder: Connection | undefined
  let last: Connection | undefined
  let running = false

  async function run(): Promise<void> {
    if (running) return
    running = true
    for (let next = take(); next; next = take()) {
      const { connection, message } = next
      holder = connection
      if (message[0] === TERMINATE) {
        await forget(connection)
        continue
      }
      if (last !== connection) await session.exec(`SET search_path TO ${connection.searchPath ?? 'public'}`)
      last = connection
      const answer = Buffer.from(await session.execProtocolRaw(message, { syncToFs: false }))
      connection.socket.write(answer)
      if (endsOutsideTransaction(answer)) holder = undefined
    }
    running = false
  }

  function take(): { connection: Connection; message: Buffer } | undefined {
    for (const connection of holder ? [holder] : connections) {
      const message = connection.messages.shift()
      if (message) return { connection, message }
    }
    return undefined
  }

  async function forget(connection: Connection): Promise<void> {
    connections.delete(connection)
    if (holder !== connection) return
    await session.exec('ROLLBACK')
    holder = undefined
  }

  const server = createServer((socket) => {
    const connection: Connection = {
      socket,
      received: Buffer.alloc(0),
      greeted: false,
      searchPath: undefined,
      messages: [],
    }
    connections.add(connection)
    socket.on('data', (bytes) => {
      receive(connection, bytes)
      void run()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      connection.messages = [Buffer.from([TERMINATE])]
      void run()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Extracts complete messages from the received bytes. */
function receive(connection: Connection, bytes: Buffer): void {
  connection.received = Buffer.concat([connection.received, bytes])
  while (true) {
    const { received, greeted } = connection
    // Only the greeting has no type byte.
    const start = greeted ? 1 : 0
    if (received.length < start + 4) return
    const length = start + received.readInt32BE(start)
    if (received.length < length) return
    const message = received.subarray(0, length)
    connection.received = received.subarray(length)
    if (greeted) connection.messages.push(message)
    else greet(connection, message)
  }
}

function greet(connection: Connection, startup: Buffer): void {
  const words = startup.subarray(8).toString().split('\0')
  const position = words.indexOf('search_path')
  connection.searchPath = position === -1 ? undefined : words[position + 1]
  connection.greeted = true
  connection.socket.write(GREETING)
}

function endsOutsideTransaction(answer: Buffer): boolean {
  return answer.at(-6) === READY_FOR_QUERY && answer.at(-1) === OUTSIDE_TRANSACTION
}
