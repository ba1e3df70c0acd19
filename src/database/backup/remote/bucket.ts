/** The backups and manifests in a folder of S3-compatible storage. Other objects there are never read, changed or removed. */

import { OVER_BUDGET, SILENT } from '../../../lib/outgoing/failures.ts'
import type { S3Place } from '../../../lib/s3-place.ts'
import { s3Address } from '../../../lib/s3-place.ts'
import { NAME_BEGIN, newestFirst, readSealedName } from '../names.ts'
import { BackupError } from './encryption.ts'
import { isManifestName, MANIFEST_BYTES } from './manifest.ts'
import { type S3Access, S3Client, S3Error } from './s3-client.ts'

/** A backup in the storage. */
export interface StoredBackup {
  name: string
  /** As its name says. */
  madeAt: number
  bytes: number
}

export interface Listing {
  /** Newest first. */
  backups: StoredBackup[]
  /** The names of manifests. */
  manifests: string[]
}

/** Of a request that failed without reaching the server, or that the server could not serve; each pause is twice as long. */
const ATTEMPTS = 4
const PAUSE_MS = 500

/** S3 accepts 10,000 parts of at least 5 MiB. One of them is gathered while two are sent. */
const PART_BYTES = 8 * 1_048_576
const PARTS = 9_000
const PARTS_AT_ONCE = 2

/** Pages of a list, of a thousand objects each. Retention keeps a few hundred backups. */
const PAGE_LIMIT = 100

/** How long the storage may neither respond nor take or send anything. */
const SILENCE_MS = 300_000

export class Bucket {
  readonly #client: S3Client
  readonly #prefix: string
  readonly #address: string

  constructor(
    { bucket, prefix }: Pick<S3Place, 'bucket' | 'prefix'>,
    access: S3Access,
    { silenceMs = SILENCE_MS }: { silenceMs?: number } = {},
  ) {
    this.#prefix = prefix
    this.#address = s3Address({ bucket, prefix, name: undefined })
    this.#client = new S3Client(bucket, access, silenceMs)
  }

  async list(): Promise<Listing> {
    const backups: StoredBackup[] = []
    const manifests: string[] = []
    let token: string | undefined
    for (let page = 0; page < PAGE_LIMIT; page += 1) {
      const listed = token
      const { objects, next } = await this.#request(() => this.#client.list(`${this.#prefix}${NAME_BEGIN}`, listed))
      for (const { key, bytes } of objects) {
        const name = key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : ''
        const named = readSealedName(name)
        if (named && Number.isSafeInteger(bytes)) backups.push({ name, madeAt: named.madeAt, bytes })
        else if (isManifestName(name)) manifests.push(name)
      }
      token = next
      if (token === undefined) return { backups: backups.sort(newestFirst), manifests }
    }
    throw new BackupError(
      `${this.#address} contains more than ${PAGE_LIMIT},000 objects that begin with '${NAME_BEGIN}'. Use a prefix for Tally alone.`,
    )
  }

  /** Undefined if there is no such backup. */
  async find(name: string): Promise<StoredBackup | undefined> {
    const named = readSealedName(name)
    if (!named) return undefined
    const bytes = await this.#sizeOf(name)
    return bytes === undefined ? undefined : { name, madeAt: named.madeAt, bytes }
  }

  #sizeOf(name: string): Promise<number | undefined> {
    return this.#request(() => this.#client.sizeOf(this.#prefix + name))
  }

  /** The text of a manifest; undefined if there is none, and empty if the object is none by its size. */
  async readManifest(name: string): Promise<string | undefined> {
    const bytes = await this.#sizeOf(name)
    if (bytes === undefined || bytes > MANIFEST_BYTES) return bytes === undefined ? undefined : ''
    return new Response(this.read({ name, bytes })).text()
  }

  async writeManifest(name: string, text: string): Promise<void> {
    if (!isManifestName(name)) throw new Error(`${name} is not the name of a manifest`)
    await this.#request(() => this.#client.put(this.#prefix + name, Buffer.from(text)))
  }

  /**
   * Stores a stream under the name. There is no object until all of it has arrived, and none at all if the stream fails.
   *
   * @param expectedBytes an upper limit, which the size of parts depends on
   */
  async store(name: string, content: ReadableStream<Uint8Array>, expectedBytes: number): Promise<void> {
    const partSize = Math.max(PART_BYTES, Math.ceil(expectedBytes / PARTS))
    const key = this.#prefix + name
    const spare: Uint8Array[] = []
    const parts = partsOf(content, () => spare.pop() ?? new Uint8Array(partSize))
    const { value: first = new Uint8Array(), done } = await parts.next()
    if (done || first.byteLength < partSize) return this.#request(() => this.#client.put(key, first))
    const upload = await this.#request(() => this.#client.beginParts(key))
    const tags: string[] = []
    const sending = new Set<Promise<void>>()
    const failing = new AbortController()
    try {
      let number = 0
      const begin = (part: Uint8Array) => {
        const index = number++
        const sent = this.#request(() => this.#client.putPart(key, upload, index + 1, part, failing.signal)).then(
          (tag) => {
            tags[index] = tag
            spare.push(part)
            // What was read and sent meanwhile would stay in memory, several times as much as the parts.
            Bun.gc(true)
            sending.delete(sent)
          },
        )
        sending.add(sent)
        // It is awaited below, if not at once.
        sent.catch(() => {})
      }
      begin(first)
      for await (const part of parts) {
        if (sending.size >= PARTS_AT_ONCE) await Promise.race(sending)
        begin(part)
      }
      await Promise.all(sending)
      await this.#request(() => this.#client.endParts(key, upload, tags))
    } catch (error) {
      failing.abort()
      await Promise.allSettled(sending)
      await this.#client.abortParts(key, upload).catch(() => {})
      throw error
    }
  }

  /** The content of a backup, at most as many bytes as it has: a lost connection is resumed, and more is an error. */
  read({ name, bytes }: Pick<StoredBackup, 'name' | 'bytes'>): ReadableStream<Uint8Array<ArrayBuffer>> {
    return streamOf(this.#chunks(name, bytes))
  }

  async *#chunks(name: string, bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    let at = 0
    for (let failures = 0; at < bytes; ) {
      try {
        for await (const chunk of this.#client.read(this.#prefix + name, at, bytes)) {
          at += chunk.byteLength
          if (at > bytes) throw new BackupError(`${this.#address}${name} is longer than the storage said.`)
          failures = 0
          yield new Uint8Array(chunk)
        }
        if (at < bytes) throw new BackupError(`${this.#address}${name} ended early.`)
      } catch (error) {
        failures += 1
        if (failures >= ATTEMPTS || at > bytes || isFinal(error)) throw this.#readable(error)
        await Bun.sleep(PAUSE_MS * 2 ** failures)
      }
    }
  }

  async remove({ name }: Pick<StoredBackup, 'name'>): Promise<void> {
    if (!readSealedName(name)) throw new Error(`${name} is not the name of a backup`)
    await this.#request(() => this.#client.remove(this.#prefix + name))
  }

  async #request<Result>(run: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await run()
      } catch (error) {
        if (attempt >= ATTEMPTS || isFinal(error)) throw this.#readable(error)
        await Bun.sleep(PAUSE_MS * 2 ** attempt)
      }
    }
  }

  /** What failed, as something to act on. The address and its key names, and nothing of the credentials. */
  #readable(error: unknown): unknown {
    const { code = '', message } = error as { code?: string; message: string }
    if (error instanceof BackupError || code === '') return error
    const advice = ADVICE[code] ?? 'Check AWS_ENDPOINT_URL, and whether the storage is available.'
    return new BackupError(`${this.#address}: ${message.replace(/\.$/, '')} (${code}). ${advice}`, { cause: { code } })
  }
}

/** What to do about the errors that S3 reports. */
const ADVICE: Record<string, string> = {
  NoSuchBucket: 'Create the bucket, or correct its name.',
  [OVER_BUDGET]: 'Check AWS_ENDPOINT_URL: this is not how S3 responds.',
  NoSuchKey: 'List the backups with `tally backup list`.',
  InvalidAccessKeyId: 'Check AWS_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: 'Check AWS_SECRET_ACCESS_KEY and AWS_REGION.',
  AuthorizationHeaderMalformed: 'Check AWS_REGION.',
  PermanentRedirect: 'Check AWS_REGION and AWS_ENDPOINT_URL.',
  ExpiredToken: 'Renew AWS_SESSION_TOKEN.',
  RequestTimeTooSkewed: 'Set the clock of this machine.',
  AccessDenied:
    'The key needs s3:ListBucket of the bucket, and s3:PutObject, s3:GetObject and s3:DeleteObject of its objects.',
}

/** Whether a request would fail again. */
function isFinal(error: unknown): boolean {
  if (error instanceof S3Error) return !error.isTemporary
  const { code = '' } = error as NodeJS.ErrnoException
  return (error as Error).name === 'AbortError' || code === OVER_BUDGET || code === SILENT || /CERT|^ERR_TLS/.test(code)
}

/** The content in parts, each of which fills what `take` gives; the last one may be smaller. */
async function* partsOf(content: AsyncIterable<Uint8Array>, take: () => Uint8Array): AsyncGenerator<Uint8Array> {
  let part = take()
  let filled = 0
  for await (const chunk of content) {
    for (let at = 0; at < chunk.byteLength; ) {
      const piece = chunk.subarray(at, at + part.byteLength - filled)
      part.set(piece, filled)
      filled += piece.byteLength
      at += piece.byteLength
      if (filled < part.byteLength) continue
      yield part
      part = take()
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

function streamOf(chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
}
