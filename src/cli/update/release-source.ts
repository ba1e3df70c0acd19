/** Reads the files of a release from a folder or an address. What a source may cost is bounded: bytes, waiting, redirects. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { followed } from '../../lib/outgoing/redirects.ts'
import { isAddress } from '../../lib/outgoing/safe-address.ts'
import { send } from '../../lib/outgoing/send.ts'
import { CommandError } from '../failures.ts'

/** No server that is still there pauses for longer. There is no limit on the whole, as links are slow. */
const SILENCE_LIMIT_MS = 60_000

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
    const opened = await this.#open(name, TEXT_LIMIT_BYTES)
    if (!opened) return undefined
    const parts: Uint8Array[] = []
    for await (const part of this.#bounded(name, opened, TEXT_LIMIT_BYTES)) parts.push(part)
    return Buffer.concat(parts)
  }

  /** Writes a file that must be there to a path that must not exist, and returns its SHA-256. */
  async download(name: string, to: string, onProgress: (done: number, total?: number) => void): Promise<string> {
    const opened = await this.#open(name, ARCHIVE_LIMIT_BYTES)
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

  #open(name: string, limitBytes: number): Promise<Opened | undefined> {
    return isAddress(this.place) ? this.#request(name, limitBytes) : this.#openFile(name)
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

  async #request(name: string, limitBytes: number): Promise<Opened | undefined> {
    const address = this.#nameOf(name)
    const options = { bodyBytes: limitBytes, silenceMs: SILENCE_LIMIT_MS }
    try {
      const { status, statusText, headers, body, close } = await followed(
        address,
        (url) => send({ method: 'GET', url }, options),
        (redirect) => redirect.close(),
      )
      if (status < 200 || status > 299) {
        close()
        if (status === 404 || status === 410) return undefined
        throw new CommandError(`${address} returned ${status} ${statusText}.`)
      }
      const bytes = Number(headers['content-length']) || undefined
      return { content: received(body, address), bytes }
    } catch (error) {
      throw asDownloadError(error, address)
    }
  }
}

async function* received(body: AsyncIterable<Uint8Array>, address: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw asDownloadError(error, address)
  }
}

function asDownloadError(error: unknown, address: string): Error {
  if (error instanceof CommandError) return error
  return new CommandError(
    `${address} could not be downloaded: ${(error as Error).message.replace(/\.$/, '')}. Nothing was changed. Try again.`,
  )
}
