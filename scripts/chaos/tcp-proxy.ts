/** A network between Tally and PostgreSQL: slow, or with connections that stall or are cut in the middle of a message. */
import type { Socket } from 'bun'

/** A connection through the proxy. Data that one side has sent waits until it is passed on. */
class Passage {
  near: Socket<Side> | undefined
  far: Socket<Side> | undefined
  isStalled = false
  /** Whether the next data is cut somewhere, and the connection with it. */
  isToCut = false
  isClosed = false
  readonly #onTheWay: Record<'near' | 'far', { at: number; data: Buffer }[]> = { near: [], far: [] }

  constructor(readonly proxy: TcpProxy) {}

  receive(from: 'near' | 'far', data: Buffer): void {
    // The buffer is only valid now.
    const late = { at: performance.now() + this.proxy.latencyMs, data: Buffer.from(data) }
    const onTheWay = this.#onTheWay[from]
    onTheWay.push(late)
    if (onTheWay.length === 1) this.#arrive(from)
  }

  /** In order, even if there is less latency than before. */
  #arrive(from: 'near' | 'far'): void {
    const onTheWay = this.#onTheWay[from]
    for (let next = onTheWay[0]; next; next = onTheWay[0]) {
      const waitMs = next.at - performance.now()
      if (waitMs > 0) {
        setTimeout(() => this.#arrive(from), waitMs)
        return
      }
      this.#pass(from, next.data)
      onTheWay.shift()
    }
  }

  #pass(from: 'near' | 'far', data: Buffer): void {
    // What comes while the connection stalls is lost: it never continues.
    if (this.isStalled || this.isClosed) return
    const to = from === 'near' ? this.far! : this.near!
    if (!this.isToCut) {
      write(to, data)
      return
    }
    write(to, data.subarray(0, Math.floor(Math.random() * data.length)))
    this.close()
  }

  /** One side has closed. The other learns nothing of it while the connection stalls. */
  lose(name: 'near' | 'far'): void {
    if (this.isStalled && name === 'far') return
    this.close()
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.proxy.passages.delete(this)
    this.near?.end()
    this.far?.end()
  }
}

interface Side {
  passage: Passage
  name: 'near' | 'far'
  /** What the socket has not taken yet. */
  pending: Buffer[]
}

function write(socket: Socket<Side>, data: Buffer): void {
  const { pending } = socket.data
  pending.push(data)
  flush(socket)
}

function flush(socket: Socket<Side>): void {
  const { pending } = socket.data
  while (pending.length > 0) {
    const [first] = pending as [Buffer]
    const written = socket.write(first)
    if (written < 0) return
    if (written < first.length) {
      pending[0] = first.subarray(written)
      return
    }
    pending.shift()
  }
}

const handlers = {
  data: (socket: Socket<Side>, data: Buffer) => socket.data.passage.receive(socket.data.name, data),
  drain: flush,
  close: (socket: Socket<Side>) => socket.data.passage.lose(socket.data.name),
  error: (socket: Socket<Side>) => socket.data.passage.lose(socket.data.name),
}

export class TcpProxy {
  /** In each direction. */
  latencyMs = 0
  readonly passages = new Set<Passage>()
  readonly #server

  /** @param target the path of a server's socket */
  constructor(readonly target: string) {
    const proxy = this
    this.#server = Bun.listen<Side>({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        ...handlers,
        async open(near) {
          const passage = new Passage(proxy)
          near.data = { passage, name: 'near', pending: [] }
          passage.near = near
          proxy.passages.add(passage)
          // Nobody sends anything before the client has.
          near.pause()
          const far: Side = { passage, name: 'far', pending: [] }
          passage.far = await Bun.connect<Side>({ unix: proxy.target, data: far, socket: handlers })
          near.resume()
        },
      },
    })
  }

  get port(): number {
    return this.#server.port
  }

  /** Connections that are open now carry nothing any more; new ones do. */
  stall(): number {
    for (const passage of this.passages) passage.isStalled = true
    return this.passages.size
  }

  /** Cuts one connection, in the middle of what it carries next. */
  cutOne(): void {
    const open = [...this.passages].filter(({ isStalled, isToCut }) => !isStalled && !isToCut)
    const passage = open[Math.floor(Math.random() * open.length)]
    if (passage) passage.isToCut = true
  }

  stop(): void {
    this.#server.stop(true)
    for (const passage of this.passages) passage.close()
  }
}
