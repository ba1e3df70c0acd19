/** Static responses, revalidated by ETag and compressed once per encoding. */
import { type Encoding, encodingFor } from './accept-encoding.ts'
import { compressedThoroughly } from './compression.ts'
import { entityTag, hasTag } from './entity-tags.ts'

/** Cached but revalidated every time: an upgrade of Tally is seen immediately, and a revalidation has an empty response. */
export const REVALIDATED = { 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }

export class FixedContent {
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #etag: string
  readonly #compressed = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>()

  constructor(
    content: string | Uint8Array<ArrayBuffer>,
    readonly type: string,
    readonly headers: Record<string, string> = {},
  ) {
    this.#bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    this.#etag = entityTag([this.#bytes])
  }

  async respond(request: Request): Promise<Response> {
    const common = {
      etag: this.#etag,
      ...REVALIDATED,
      vary: 'accept-encoding',
      ...this.headers,
    }
    if (hasTag(request, this.#etag)) return new Response(null, { status: 304, headers: common })
    const headers = { ...common, 'content-type': this.type }
    const encoding = encodingFor(request, this.#bytes.byteLength)
    if (!encoding) return new Response(this.#bytes, { headers })
    const known = this.#compressed.get(encoding) ?? compressedThoroughly(this.#bytes, encoding)
    this.#compressed.set(encoding, known)
    return new Response(await known, { headers: { ...headers, 'content-encoding': encoding } })
  }
}
