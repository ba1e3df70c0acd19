/** Answers with files of `dist/web.pack`, compressed as the client takes them. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { accepts, hasTag } from './content.ts'
import { findPack, type Pack } from './web-pack.ts'

const unzip = promisify(gunzip) as (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>

export class PackedFiles {
  #pack: Promise<Pack | undefined> | undefined
  /** Files as they are for who takes no compressed ones. Unpacking one takes milliseconds, and anybody may ask for it. */
  readonly #unpacked = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()

  /** Undefined where the application is not built. */
  pack(): Promise<Pack | undefined> {
    this.#pack ??= findPack()
    return this.#pack
  }

  /** Undefined where there is no such file. */
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
