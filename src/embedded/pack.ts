/**
 * The built web application, the built manual and the API's document, each as one file: a header with the position of each file, then the
 * files, compressed. A single file to embed, and nothing has to be unpacked to disk.
 */
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'

const unzip = promisify(gunzip)
const unbrotli = promisify(brotliDecompress)

export type PackName = 'web' | 'manual' | 'api'

/** The path that the scripts write and a server from source reads. */
export const packPath = (name: PackName): string => join(import.meta.dir, `../../dist/${name}.pack`)

/** A file, compressed in one way or both. */
interface Compressed<Bytes> {
  /** The media type. */
  type: string
  /** For browsers, which accept Brotli only over TLS and from their own machine. */
  gzip?: Bytes
  brotli?: Bytes
}

export type PackedFile = Compressed<Uint8Array>

interface Place {
  offset: number
  length: number
}

interface Header {
  /** Hash of its sources. */
  stamp: string
  files: Record<string, Compressed<Place>>
}

const LENGTH_BYTES = 4

export function writePack({ stamp, files }: { stamp: string; files: Map<string, PackedFile> }): Blob {
  const header: Header = { stamp, files: {} }
  const parts: Uint8Array[] = []
  let offset = 0
  const put = (bytes: Uint8Array): Place => {
    const place = { offset, length: bytes.byteLength }
    parts.push(bytes)
    offset += bytes.byteLength
    return place
  }
  for (const [name, { type, gzip, brotli }] of files) {
    header.files[name] = { type, ...(gzip && { gzip: put(gzip) }), ...(brotli && { brotli: put(brotli) }) }
  }
  const encoded = new TextEncoder().encode(JSON.stringify(header))
  const length = new Uint8Array(LENGTH_BYTES)
  new DataView(length.buffer).setUint32(0, encoded.byteLength)
  return new Blob([length, encoded, ...parts] as Uint8Array<ArrayBuffer>[])
}

export interface Pack {
  stamp: string
  names: string[]
  /** Undefined if there is no such file. */
  find(name: string): Compressed<Blob> | undefined
}

export async function readPack(pack: Blob): Promise<Pack> {
  const length = new DataView(await pack.slice(0, LENGTH_BYTES).arrayBuffer()).getUint32(0)
  const start = LENGTH_BYTES + length
  const { stamp, files } = JSON.parse(await pack.slice(LENGTH_BYTES, start).text()) as Header
  const part = ({ offset, length }: Place) => pack.slice(start + offset, start + offset + length)
  return {
    stamp,
    names: Object.keys(files),
    find(name) {
      if (!Object.hasOwn(files, name)) return undefined
      const { type, gzip, brotli } = files[name]!
      return { type, ...(gzip && { gzip: part(gzip) }), ...(brotli && { brotli: part(brotli) }) }
    },
  }
}

/** The text of a file; undefined if the pack has none of that name. */
export async function packedText(pack: Pack, name: string): Promise<string | undefined> {
  const file = pack.find(name)
  return file && new TextDecoder().decode(await unpacked(file))
}

export async function unpacked({ gzip, brotli }: Compressed<Blob>): Promise<Uint8Array<ArrayBuffer>> {
  const plain = gzip ? await unzip(await gzip.bytes()) : await unbrotli(await brotli!.bytes())
  return plain as Uint8Array<ArrayBuffer>
}

/** The pack embedded in the executable, otherwise the one built next to the sources. Undefined if there is none. */
export async function findPack(name: PackName): Promise<Pack | undefined> {
  if (Bun.isStandaloneExecutable) {
    const embedded = Bun.embeddedFiles.find((file) => {
      const path = (file as File).name
      return path.startsWith(name) && path.endsWith('.pack')
    })
    return embedded && readPack(embedded)
  }
  const file = Bun.file(packPath(name))
  return (await file.exists()) ? readPack(file) : undefined
}
