/** The backups in a folder of S3-compatible storage. Other objects there are never read, changed or removed. */
import type { S3Place } from '../../../lib/s3-place.ts'
import { s3Address } from '../../../lib/s3-place.ts'
import { NAME_BEGIN, newestFirst, sealedTime } from '../names.ts'
import { BackupError } from './encryption.ts'

/** How to reach the storage. */
export interface S3Access {
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
}

/** A backup in the storage. */
export interface StoredBackup {
  name: string
  madeAt: number
  bytes: number
}

/** Of a request that failed without reaching the server, or that the server could not serve. */
const ATTEMPTS = 4
const PAUSE_MS = 2_000

/** S3 accepts 10,000 parts of at least 5 MiB. Two of them are in memory at a time. */
const PART_BYTES = 8 * 1_048_576
const PARTS = 9_000
const PARTS_AT_ONCE = 2

/** Pages of a list, of a thousand objects each. Retention keeps a few hundred backups. */
const PAGE_LIMIT = 100

/** How much larger the process may get during a request whose response Bun reads as a whole. */
const RESPONSE_BYTES = 256 * 1_048_576
const LOOK_MS = 100

/** How long the storage may neither respond nor take or send anything. Bun itself waits forever. */
const PATIENCE_MS = 300_000

/** The code of the error then. The request itself cannot be ended, except with the process. */
const UNRESPONSIVE = 'Unresponsive'

export const isUnresponsive = (error: unknown): boolean =>
  error instanceof BackupError && (error.cause as { code?: string } | undefined)?.code === UNRESPONSIVE

export class Bucket {
  readonly #client: Bun.S3Client
  readonly #prefix: string
  readonly #address: string

  readonly #patienceMs: number

  constructor(
    { bucket, prefix }: Pick<S3Place, 'bucket' | 'prefix'>,
    access: S3Access,
    { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
  ) {
    this.#patienceMs = patienceMs
    this.#prefix = prefix
    this.#address = s3Address({ bucket, prefix, name: undefined })
    // All of it is given: Bun would take what is missing from variables that Tally does not document.
    this.#client = new Bun.S3Client({ bucket, ...access, sessionToken: access.sessionToken ?? '' })
  }

  /** Newest first. */
  async list(): Promise<StoredBackup[]> {
    const found: StoredBackup[] = []
    let continuationToken: string | undefined
    for (let page = 0; page < PAGE_LIMIT; page += 1) {
      const { contents = [], ...answer } = await this.#request(() =>
        this.#client.list({ prefix: `${this.#prefix}${NAME_BEGIN}`, ...(continuationToken && { continuationToken }) }),
      )
      for (const { key, size } of contents) {
        const name = key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : ''
        const madeAt = sealedTime(name)
        if (madeAt !== undefined && Number.isSafeInteger(size)) found.push({ name, madeAt, bytes: size! })
      }
      continuationToken = answer.isTruncated ? answer.nextContinuationToken : undefined
      if (continuationToken === undefined) return found.sort(newestFirst)
    }
    throw new BackupError(
      `${this.#address} contains more than ${PAGE_LIMIT},000 objects that begin with '${NAME_BEGIN}'. Use a prefix for Tally alone.`,
    )
  }

  /** Undefined if there is no such backup. */
  async find(name: string): Promise<StoredBackup | undefined> {
    const madeAt = sealedTime(name)
    if (madeAt === undefined) return undefined
    try {
      const { size } = await this.#request(() => this.#client.file(this.#prefix + name).stat())
      return { name, madeAt, bytes: size }
    } catch (error) {
      if (error instanceof BackupError && (error.cause as { code?: string })?.code === 'NoSuchKey') return undefined
      throw error
    }
  }

  /**
   * Stores a stream under the name. There is no object until all of it has arrived, and none at all if the stream fails.
   *
   * @param expectedBytes an upper limit, which the size of parts depends on
   */
  async store(name: string, content: ReadableStream<Uint8Array>, expectedBytes: number): Promise<void> {
    const partSize = Math.max(PART_BYTES, Math.ceil(expectedBytes / PARTS))
    const options = { partSize, queueSize: PARTS_AT_ONCE, retry: ATTEMPTS, type: 'application/octet-stream' }
    // Not with a writer, whose `end(error)` completes the object.
    await this.#patiently((moved) => {
      const watched = content.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            moved()
            controller.enqueue(chunk)
          },
        }),
      )
      return this.#once(() => this.#client.write(this.#prefix + name, new Response(watched), options))
    })
  }

  /** The content of a backup, at most as many bytes as it has: a lost connection is resumed, and more is an error. */
  read({ name, bytes }: Pick<StoredBackup, 'name' | 'bytes'>): ReadableStream<Uint8Array<ArrayBuffer>> {
    return streamOf(this.#chunks(name, bytes))
  }

  async *#chunks(name: string, bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    let at = 0
    for (let failures = 0; at < bytes; ) {
      try {
        const part = this.#client.file(this.#prefix + name).slice(at, bytes)
        const reader = (part.stream() as ReadableStream<Uint8Array<ArrayBuffer>>).getReader()
        const next = () => this.#patiently(() => reader.read())
        for (let read = await next(); !read.done; read = await next()) {
          at += read.value.byteLength
          if (at > bytes) throw new BackupError(`${this.#address}${name} is longer than the storage said.`)
          failures = 0
          yield read.value
        }
        if (at < bytes) throw new BackupError(`${this.#address}${name} ended early.`)
      } catch (error) {
        failures += 1
        if (failures >= ATTEMPTS || at > bytes || isFinal(error)) throw this.#readable(error)
        await Bun.sleep(PAUSE_MS)
      }
    }
  }

  /** Throws if `run` neither ends nor calls `moved` for a while. */
  async #patiently<Result>(run: (moved: () => void) => Promise<Result>): Promise<Result> {
    const { promise, reject } = Promise.withResolvers<never>()
    const message = `${this.#address}: the storage has not responded for ${this.#patienceMs / 1000} s. Check AWS_ENDPOINT_URL, and whether the storage is available.`
    const giveUp = () => reject(new BackupError(message, { cause: { code: UNRESPONSIVE } }))
    const timer = setTimeout(giveUp, this.#patienceMs)
    try {
      return await Promise.race([run(() => timer.refresh()), promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async remove({ name }: Pick<StoredBackup, 'name'>): Promise<void> {
    if (sealedTime(name) === undefined) throw new Error(`${name} is not the name of a backup`)
    await this.#request(() => this.#client.delete(this.#prefix + name))
  }

  async #request<Result>(run: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#patiently(() => bounded(run))
      } catch (error) {
        if (attempt >= ATTEMPTS || isFinal(error)) throw this.#readable(error)
        await Bun.sleep(PAUSE_MS)
      }
    }
  }

  async #once<Result>(run: () => Promise<Result>): Promise<Result> {
    try {
      return await run()
    } catch (error) {
      throw this.#readable(error)
    }
  }

  /** What the storage answered, as something to act on. The address and its key names, and nothing of the credentials. */
  #readable(error: unknown): unknown {
    const { name, code = '', message } = error as { name?: string; code?: string; message: string }
    if (error instanceof BackupError || (name !== 'S3Error' && !isConnection(code))) return error
    const advice = ADVICE[code] ?? 'Check AWS_ENDPOINT_URL, and whether the storage is available.'
    const what = message.startsWith(UNNAMED) ? 'The request failed' : message.replace(/\.$/, '')
    return new BackupError(`${this.#address}: ${what} (${code}). ${advice}`, { cause: { code } })
  }
}

/** Bun's text for all that is not an answer of the storage; its code says more. */
const UNNAMED = 'an unexpected error'

/** What to do about the errors that S3 reports. */
const ADVICE: Record<string, string> = {
  NoSuchBucket: 'Create the bucket, or correct its name.',
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

const isConnection = (code: string) =>
  /^(E[A-Z]+|Connection\w+|FailedToOpenSocket|Timeout|ERR_TLS_\w+|\w*CERT\w*)$/.test(code)

/** Whether a request would fail again. */
function isFinal(error: unknown): boolean {
  const { name, code = '' } = error as { name?: string; code?: string }
  return isUnresponsive(error) || (name === 'S3Error' && code in ADVICE)
}

/**
 * Ends the process if a response that Bun reads as a whole does not end: nothing else would stop it before all memory is
 * used.
 */
async function bounded<Result>(run: () => Promise<Result>): Promise<Result> {
  const before = process.memoryUsage.rss()
  const looking = setInterval(() => {
    if (process.memoryUsage.rss() - before < RESPONSE_BYTES) return
    process.stderr.write('tally: the storage sent a response without an end. Check AWS_ENDPOINT_URL.\n')
    process.exit(1)
  }, LOOK_MS)
  try {
    return await run()
  } finally {
    clearInterval(looking)
  }
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
