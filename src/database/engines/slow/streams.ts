/**
 * Streams of a server, such as exports: their pieces are made in processes of their own, apart from those of queries, which
 * would otherwise wait for minutes.
 */
import { currentCaller } from '../../caller.ts'
import type { SlowStream } from '../../database.ts'
import { asProblem, databaseClosed } from '../../errors.ts'
import { receivedError, SlowLink, type SlowLinkOptions } from './link.ts'
import type { FromSlowProcess } from './messages.ts'

/** Streams of a process alternate piece by piece. More processes would find no core. */
const PROCESSES = 2

/** Programs fetch one export after the other; without this, each would start a process of its own. */
const IDLE_MS = 10_000

/**
 * What the piece of an abandoned stream may still take, before its process is ended if no other stream needs it. Pieces
 * are made faster than a process starts.
 */
const GRACE_MS = 500

type Waiting = PromiseWithResolvers<Uint8Array | undefined>

interface Host {
  link: SlowLink
  whenReady: Promise<void>
  /** The open streams by their ids, with the piece that each waits for. */
  streams: Map<number, Waiting | undefined>
  idle: Timer | undefined
}

interface SlowStreamsOptions extends SlowLinkOptions {
  /** Called with the driver's error if a piece fails. */
  onError(error: unknown): void
}

export class SlowStreams {
  readonly #hosts = new Set<Host>()
  #closed = false
  #lastId = 0

  constructor(readonly options: SlowStreamsOptions) {}

  async *run<Args>(stream: SlowStream<Args>, args: Args): AsyncGenerator<Uint8Array> {
    if (this.#closed) throw databaseClosed()
    const onReplica = currentCaller() !== undefined
    const id = ++this.#lastId
    const host = this.#host()
    host.streams.set(id, undefined)
    try {
      await host.whenReady
      host.link.send({ id, stream: stream.name, args, onReplica })
      // A piece is made while the previous one is sent.
      let next = this.#request(host, id)
      for (let piece = await next; piece; piece = await next) {
        next = this.#request(host, id)
        // The awaiting reader gets the error. If the reader has left, no one does, and it must not become an unhandled
        // rejection.
        next.catch(() => {})
        yield piece
      }
    } finally {
      this.#leave(host, id)
    }
  }

  close(): void {
    this.#closed = true
    for (const host of this.#hosts) this.#end(host, databaseClosed())
  }

  /** The process with the fewest streams. */
  #host(): Host {
    const hosts = [...this.#hosts].sort((one, other) => one.streams.size - other.streams.size)
    const [host] = hosts
    const chosen = host && (host.streams.size === 0 || hosts.length >= PROCESSES) ? host : this.#open()
    clearTimeout(chosen.idle)
    return chosen
  }

  #open(): Host {
    const ready = Promise.withResolvers<void>()
    // Each stream that waits for it fails.
    ready.promise.catch(() => {})
    const link = new SlowLink(this.options, {
      onReady: ready.resolve,
      onMessage: (message) => this.#receive(host, message),
      onLost: (reason) => {
        ready.reject(new Error(reason))
        this.#end(host, new Error(reason))
      },
    })
    const host: Host = { link, whenReady: ready.promise, streams: new Map(), idle: undefined }
    this.#hosts.add(host)
    return host
  }

  #request(host: Host, id: number): Promise<Uint8Array | undefined> {
    const waiting: Waiting = Promise.withResolvers()
    host.streams.set(id, waiting)
    host.link.send({ id, next: true })
    return waiting.promise
  }

  #receive(host: Host, message: Exclude<FromSlowProcess, 'ready'>): void {
    const waiting = host.streams.get(message.id)
    if (!waiting) {
      // The last piece of an abandoned stream.
      if (host.streams.size === 0) this.#rest(host, IDLE_MS)
      return
    }
    host.streams.set(message.id, undefined)
    if ('error' in message) {
      const error = receivedError(message.error)
      this.options.onError(error)
      waiting.reject(asProblem(error))
    } else waiting.resolve('piece' in message ? message.piece : undefined)
  }

  #leave(host: Host, id: number): void {
    const isBusy = host.streams.get(id) !== undefined
    host.streams.delete(id)
    host.link.send({ id, stop: true })
    if (host.streams.size === 0) this.#rest(host, isBusy ? GRACE_MS : IDLE_MS)
  }

  /** Ends the process after a time without a stream. */
  #rest(host: Host, forMs: number): void {
    clearTimeout(host.idle)
    host.idle = setTimeout(() => this.#end(host, databaseClosed()), forMs)
    host.idle.unref()
  }

  #end(host: Host, reason: unknown): void {
    clearTimeout(host.idle)
    this.#hosts.delete(host)
    host.link.end()
    for (const waiting of host.streams.values()) waiting?.reject(reason)
  }
}
