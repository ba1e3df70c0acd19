/** Serves files of `dist/web.pack`, in an encoding that the client accepts. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { accepts, hasTag } from './content.ts'
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
    if (file.brotli && accepts(request, 'br')) {
      return new Response(file.brotli, { headers: { ...common, 'content-encoding': 'br' } })
    }
    if (accepts(request, 'gzip')) {
      return new Response(file.gzip, { headers: { ...common, 'content-encoding': 'gzip' } })
    }
    const plain = this.#unpacked.get(name) ?? file.gzip.bytes().then(unzip)
    this.#unpacked.set(name, plain)
    return new Response(await plain, { headers: common })
  }
}
