/**
 * Sends reports over keep-alive connections, each report after the response to the previous one, and prints the results
 * as JSON. It is a separate process on raw sockets: `fetch` would use more processor time than the server does.
 */
import { Bodies, type BodyOptions } from './bodies.ts'

export interface Load extends BodyOptions {
  /** Of the servers, which the connections are divided among. */
  ports: number[]
  connections: number
  /** How long to send, unless the number of entries is reached earlier. */
  seconds: number
  entries?: number
  /** Pause of a connection between a response and its next request; none by default. */
  pauseMs?: number
}

export interface LoadResult {
  requests: number
  entries: number
  seconds: number
  entriesPerSecond: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** Number of responses by status. */
  statuses: Record<string, number>
  /** The body of the first response, to check that the right thing was measured. */
  firstAnswer: string
  /** Of the load generator: near 1, it limits the results. */
  processorShare: number
}

/** Above this, responses are still counted, but not timed. */
const TIMES_LIMIT = 20_000_000

interface Connection {
  sentAt: number
  /** Bytes of the request that the socket has not accepted yet. */
  unsent: Buffer | undefined
  /** The start of a response whose head is incomplete. */
  head: Buffer | undefined
  status: number
  /** Remaining bytes of the response. */
  missing: number
}

class Measurement {
  readonly #times = new Float64Array(TIMES_LIMIT)
  readonly statuses: Record<string, number> = {}
  requests = 0
  firstAnswer = ''

  add(status: number, ms: number): void {
    if (this.requests < TIMES_LIMIT) this.#times[this.requests] = ms
    this.requests += 1
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
  }

  percentiles(...shares: number[]): number[] {
    const sorted = this.#times.subarray(0, Math.min(this.requests, TIMES_LIMIT)).sort()
    return shares.map((share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  }
}

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)\r\n/i

async function run(load: Load): Promise<LoadResult> {
  const bodies = new Bodies(load)
  const measurement = new Measurement()
  const processor = process.cpuUsage()
  const startedAt = performance.now()
  let end = startedAt + load.seconds * 1000
  // Stopped before its time: each connection still waits for its response.
  process.on('SIGTERM', () => {
    end = performance.now()
  })
  let open = load.connections
  const { promise: allClosed, resolve, reject } = Promise.withResolvers<void>()

  function send(socket: Bun.Socket<Connection>): void {
    const enough = load.entries !== undefined && measurement.requests * load.batch >= load.entries
    if (enough || performance.now() >= end) {
      socket.end()
      open -= 1
      if (open === 0) resolve()
      return
    }
    const bytes = bodies.next()
    socket.data.sentAt = performance.now()
    const taken = socket.write(bytes)
    // Copied, because the supply of bodies writes over these bytes.
    socket.data.unsent = taken < bytes.length ? Buffer.from(bytes.subarray(taken)) : undefined
  }

  function receive(socket: Bun.Socket<Connection>, chunk: Buffer): void {
    const connection = socket.data
    if (connection.missing > 0) {
      connection.missing -= chunk.length
    } else {
      const answer = connection.head ? Buffer.concat([connection.head, chunk]) : chunk
      const headEnd = answer.indexOf('\r\n\r\n')
      if (headEnd < 0) {
        connection.head = Buffer.from(answer)
        return
      }
      connection.head = undefined
      const head = answer.toString('latin1', 0, headEnd + 2)
      const length = CONTENT_LENGTH.exec(head)?.[1]
      if (length === undefined) throw new Error(`A response has no Content-Length:\n${head}`)
      connection.status = Number(head.slice(9, 12))
      connection.missing = headEnd + 4 + Number(length) - answer.length
      if (measurement.requests === 0) measurement.firstAnswer = answer.toString('utf8', headEnd + 4)
    }
    if (connection.missing > 0) return
    measurement.add(connection.status, performance.now() - connection.sentAt)
    if (load.pauseMs) setTimeout(() => send(socket), load.pauseMs)
    else send(socket)
  }

  for (let connection = 0; connection < load.connections; connection++) {
    await Bun.connect<Connection>({
      hostname: '127.0.0.1',
      port: load.ports[connection % load.ports.length]!,
      data: { sentAt: 0, unsent: undefined, head: undefined, status: 0, missing: 0 },
      socket: {
        open: send,
        data: receive,
        drain(socket) {
          const { unsent } = socket.data
          if (!unsent) return
          const taken = socket.write(unsent)
          socket.data.unsent = taken < unsent.length ? unsent.subarray(taken) : undefined
        },
        close() {
          if (performance.now() < end && load.entries === undefined)
            reject(new Error('The server closed a connection.'))
        },
        error: (_socket, error) => reject(error),
      },
    })
  }
  await allClosed

  const seconds = (performance.now() - startedAt) / 1000
  const used = process.cpuUsage(processor)
  const [p50Ms, p99Ms, maxMs] = measurement.percentiles(0.5, 0.99, 1) as [number, number, number]
  const entries = measurement.requests * load.batch
  return {
    requests: measurement.requests,
    entries,
    seconds,
    entriesPerSecond: entries / seconds,
    p50Ms,
    p99Ms,
    maxMs,
    statuses: measurement.statuses,
    firstAnswer: measurement.firstAnswer,
    processorShare: (used.user + used.system) / 1e6 / seconds,
  }
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!))))
