/** Serves files of a pack, in an encoding that the client accepts. */
import { findPack, type Pack, type PackName, unpacked } from '../embedded/pack.ts'
import { encodingFor } from './accept-encoding.ts'
import { hasTag } from './entity-tags.ts'

/** A year: for files whose name changes with their content. */
export const FOR_EVER = 'public, max-age=31536000, immutable'

export class PackedFiles {
  readonly #name: PackName
  #pack: Promise<Pack | undefined> | undefined
  /**
   * Uncompressed files for clients that accept no compression. Decompressing one takes milliseconds, and anyone may
   * request it.
   */
  readonly #unpacked = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()

  constructor(name: PackName) {
    this.#name = name
  }

  /** Undefined while it is not built. */
  async pack(): Promise<Pack | undefined> {
    this.#pack ??= findPack(this.#name)
    const found = await this.#pack
    if (!found) this.#pack = undefined
    return found
  }

  /** Undefined if there is no such file. */
  async text(name: string): Promise<string | undefined> {
    const file = (await this.pack())?.find(name)
    return file && new TextDecoder().decode(await this.#plain(name, file))
  }

  /** Undefined if there is no such file. */
  async respond(
    name: string,
    request: Request,
    { status = 200, headers }: { status?: number; headers: Record<string, string> },
  ): Promise<Response | undefined> {
    const pack = await this.pack()
    const file = pack?.find(name)
    if (!pack || !file) return undefined
    const etag = `W/"${pack.stamp.slice(0, 16)}"`
    const common = { ...headers, 'content-type': file.type, etag, vary: 'accept-encoding' }
    if (status === 200 && hasTag(request, etag)) return new Response(null, { status: 304, headers: common })
    const available = [...(file.brotli ? (['br'] as const) : []), ...(file.gzip ? (['gzip'] as const) : [])]
    const encoding = encodingFor(request, Number.POSITIVE_INFINITY, available)
    if (encoding) {
      const packed = encoding === 'br' ? file.brotli! : file.gzip!
      return new Response(packed, { status, headers: { ...common, 'content-encoding': encoding } })
    }
    return new Response(await this.#plain(name, file), { status, headers: common })
  }

  #plain(name: string, file: Parameters<typeof unpacked>[0]): Promise<Uint8Array<ArrayBuffer>> {
    const known = this.#unpacked.get(name) ?? unpacked(file)
    this.#unpacked.set(name, known)
    return known
  }
}
