/** Reads the files of a release from a folder or an address. What a source may cost is bounded: bytes, waiting, redirects. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isAddress, isSafeAddress } from '../../config.ts'
import { CommandError } from '../failures.ts'

/** No server that is still there pauses for longer. There is no limit on the whole, as links are slow. */
const SILENCE_LIMIT_MS = 60_000

/** Downloads are one or two redirects away. */
const REDIRECT_LIMIT = 5

/** Checksums and signatures have a few kilobytes; what is larger is something else. */
const TEXT_LIMIT_BYTES = 1_048_576

/** An archive has about 60 MB. More than this would fill a disk with something else. */
const ARCHIVE_LIMIT_BYTES = 1_073_741_824

interface Opened {
  content: AsyncIterable<Uint8Array>
  bytes: number | undefined
}

export class ReleaseSource {
  /** @param place a folder, or an address without a slash at its end */
  constructor(readonly place: string) {}

  /** A small file; undefined if the source does not have it. */
  async find(name: string): Promise<Buffer | undefined> {
    const opened = await this.#open(name)
    if (!opened) return undefined
    const parts: Uint8Array[] = []
    for await (const part of this.#bounded(name, opened, TEXT_LIMIT_BYTES)) parts.push(part)
    return Buffer.concat(parts)
  }

  /** Writes a file that must be there to a path that must not exist, and returns its SHA-256. */
  async download(name: string, to: string, onProgress: (done: number, total?: number) => void): Promise<string> {
    const opened = await this.#open(name)
    if (!opened) throw new CommandError(`${this.place} has no ${name}, which its SHA256SUMS lists.`)
    const hash = createHash('sha256')
    let done = 0
    const hashed = async function* (parts: AsyncIterable<Uint8Array>) {
      for await (const part of parts) {
        hash.update(part)
        done += part.byteLength
        onProgress(done, opened.bytes)
        yield part
      }
    }
    await pipeline(this.#bounded(name, opened, ARCHIVE_LIMIT_BYTES), hashed, createWriteStream(to, { flags: 'wx' }))
    return hash.digest('hex')
  }

  async *#bounded(name: string, { content }: Opened, limitBytes: number): AsyncGenerator<Uint8Array> {
    let bytes = 0
    for await (const part of content) {
      bytes += part.byteLength
      if (bytes > limitBytes) throw new CommandError(`${this.#nameOf(name)} is too large to be a file of a release.`)
      yield part
    }
  }

  #nameOf = (name: string) => (isAddress(this.place) ? `${this.place}/${name}` : join(this.place, name))

  #open(name: string): Promise<Opened | undefined> {
    return isAddress(this.place) ? this.#fetch(name) : this.#openFile(name)
  }

  async #openFile(name: string): Promise<Opened | undefined> {
    const path = join(this.place, name)
    try {
      const { size } = await stat(path)
      return { content: createReadStream(path), bytes: size }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
      throw new CommandError(`${path} can't be read: ${message}.`)
    }
  }

  async #fetch(name: string): Promise<Opened | undefined> {
    const address = this.#nameOf(name)
    const silence = new Silence()
    try {
      const response = await followed(address, silence.signal)
      if (response.status === 404 || response.status === 410) {
        silence.end()
        return undefined
      }
      if (!response.ok || !response.body) {
        throw new CommandError(`${address} returned ${response.status} ${response.statusText}.`)
      }
      const length = response.headers.get('content-length')
      // Of a compressed response, the header has another length than the content.
      const isWhole = length !== null && !response.headers.has('content-encoding')
      const bytes = isWhole ? Number(length) : undefined
      return { content: received(response.body, { address, bytes, silence }), bytes }
    } catch (error) {
      silence.end()
      throw asDownloadError(error, address)
    }
  }
}

/** Aborts what nothing was received from for too long. */
class Silence {
  readonly #controller = new AbortController()
  #timer = this.#start()

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  #start() {
    return setTimeout(() => {
      this.#controller.abort(new Error(`nothing was received for ${SILENCE_LIMIT_MS / 1000} s`))
    }, SILENCE_LIMIT_MS)
  }

  restart(): void {
    clearTimeout(this.#timer)
    this.#timer = this.#start()
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

interface Expected {
  address: string
  bytes: number | undefined
  silence: Silence
}

async function* received(
  body: AsyncIterable<Uint8Array>,
  { address, bytes, silence }: Expected,
): AsyncGenerator<Uint8Array> {
  let done = 0
  try {
    for await (const part of body) {
      silence.restart()
      done += part.byteLength
      yield part
    }
    if (bytes !== undefined && done !== bytes) throw new Error(`the connection broke off at ${done} of ${bytes} bytes`)
  } catch (error) {
    throw asDownloadError(error, address)
  } finally {
    silence.end()
  }
}

/** Follows redirects itself, as no address may lead to one that others on the way can change. */
async function followed(address: string, signal: AbortSignal): Promise<Response> {
  const isLocal = address.startsWith('http:')
  let next = address
  for (let hop = 0; hop <= REDIRECT_LIMIT; hop += 1) {
    const response = await fetch(next, { redirect: 'manual', signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    next = new URL(location, next).href
    if (!isSafeAddress(next) || (next.startsWith('http:') && !isLocal)) {
      throw new CommandError(`${address} redirects to ${new URL(next).origin}, which is not encrypted.`)
    }
  }
  throw new CommandError(`${address} redirects more than ${REDIRECT_LIMIT} times.`)
}

function asDownloadError(error: unknown, address: string): Error {
  if (error instanceof CommandError) return error
  return new CommandError(
    `${address} could not be downloaded: ${(error as Error).message.replace(/\.$/, '')}. Nothing was changed. Try again.`,
  )
}
