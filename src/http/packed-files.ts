/** Serves files of `dist/web.pack`, in an encoding that the client accepts. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { encodingFor } from './accept-encoding.ts'
import { hasTag } from './entity-tags.ts'
import { findPack, type Pack } from './web-pack.ts'

const unzip = promisify(gunzip) as (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>

export class PackedFiles {
  #pack: Promise<Pack | undefined> | undefined
  /**
   * Uncompressed files for clients that accept no compression. Decompressing one takes milliseconds, and anyone may
   * request it.
   */
  readonly #unpacked = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()

  /** Undefined if the application is not built. */
  pack(): Promise<Pack | undefined> {
    this.#pack ??= findPack()
    return this.#pack
  }

  /** Undefined if there is no such file. */
  async respond(name: string, request: Request, headers: Record<string, string>): Promise<Response | undefined> {
    const pack = await this.pack()
    const file = pack?.find(name)
    if (!pack || !file) return undefined
    const etag = `W/"${pack.stamp.slice(0, 16)}"`
    const common = { ...headers, 'content-type': file.type, etag, vary: 'accept-encoding' }
    if (hasTag(request, etag)) return new Response(null, { status: 304, headers: common })
    const encoding = encodingFor(request, Number.POSITIVE_INFINITY, file.brotli ? ['br', 'gzip'] : ['gzip'])
    if (encoding) {
      const packed = encoding === 'br' ? file.brotli! : file.gzip
      return new Response(packed, { headers: { ...common, 'content-encoding': encoding } })
    }
    const plain = this.#unpacked.get(name) ?? file.gzip.bytes().then(unzip)
    this.#unpacked.set(name, plain)
    return new Response(await plain, { headers: common })
  }
}
