/** Static responses, revalidated by ETag and compressed once. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)

/** Below this size the headers outweigh the savings of compression. */
const WORTH_COMPRESSING_BYTES = 1_024

/** Whether a client accepts an encoding: it names it, and not with a weight of 0. */
export function accepts({ headers }: Request, encoding: 'br' | 'gzip'): boolean {
  const named = new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`, 'i')
  return named.test(headers.get('accept-encoding') ?? '')
}

/** Whether the client already has the response with this ETag. */
export function hasTag({ headers }: Request, etag: string): boolean {
  return (headers.get('if-none-match')?.split(',') ?? []).some((tag) => tag.trim() === etag)
}

export class FixedContent {
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #etag: string
  #compressed: Promise<Uint8Array<ArrayBuffer>> | undefined

  constructor(
    content: string | Uint8Array<ArrayBuffer>,
    readonly type: string,
    readonly headers: Record<string, string> = {},
  ) {
    this.#bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    // Weak, because one tag covers the plain and the compressed bytes.
    this.#etag = `W/"${Bun.hash(this.#bytes).toString(36)}"`
  }

  async respond(request: Request): Promise<Response> {
    const common = {
      etag: this.#etag,
      // Cached but revalidated every time: an upgrade of Tally is seen immediately, and a revalidation has an empty
      // response.
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      ...this.headers,
    }
    if (hasTag(request, this.#etag)) return new Response(null, { status: 304, headers: common })
    const headers = { ...common, 'content-type': this.type }
    const small = this.#bytes.byteLength < WORTH_COMPRESSING_BYTES
    if (small || !accepts(request, 'gzip')) {
      return new Response(this.#bytes, { headers })
    }
    this.#compressed ??= compress(this.#bytes) as Promise<Uint8Array<ArrayBuffer>>
    return new Response(await this.#compressed, { headers: { ...headers, 'content-encoding': 'gzip' } })
  }
}
