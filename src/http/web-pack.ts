/**
 * The built web application as one file: a header with the position of each file, then the files, compressed. A single
 * file to embed, and nothing has to be unpacked to disk.
 */
import { join } from 'node:path'

/** The path that `scripts/web.ts` writes and a server from source reads. */
export const WEB_PACK = join(import.meta.dir, '../../dist/web.pack')

export interface PackedFile {
  /** The media type. */
  type: string
  gzip: Uint8Array
  /** Absent if it would save less than it adds to the executable. */
  brotli?: Uint8Array
}

interface Place {
  offset: number
  length: number
}

interface Header {
  /** Hash of its sources. */
  stamp: string
  /** The page, the same for every address. */
  index: string
  files: Record<string, { type: string; gzip: Place; brotli?: Place }>
}

const LENGTH_BYTES = 4

export function writePack({
  stamp,
  index,
  files,
}: {
  stamp: string
  index: string
  files: Map<string, PackedFile>
}): Blob {
  const header: Header = { stamp, index, files: {} }
  const parts: Uint8Array[] = []
  let offset = 0
  const put = (bytes: Uint8Array): Place => {
    const place = { offset, length: bytes.byteLength }
    parts.push(bytes)
    offset += bytes.byteLength
    return place
  }
  for (const [name, { type, gzip, brotli }] of files) {
    header.files[name] = { type, gzip: put(gzip), ...(brotli && { brotli: put(brotli) }) }
  }
  const encoded = new TextEncoder().encode(JSON.stringify(header))
  const length = new Uint8Array(LENGTH_BYTES)
  new DataView(length.buffer).setUint32(0, encoded.byteLength)
  return new Blob([length, encoded, ...parts] as Uint8Array<ArrayBuffer>[])
}

export interface Pack {
  stamp: string
  index: string
  /** Undefined if there is no such file. */
  find(name: string): { type: string; gzip: Blob; brotli?: Blob } | undefined
}

export async function readPack(pack: Blob): Promise<Pack> {
  const length = new DataView(await pack.slice(0, LENGTH_BYTES).arrayBuffer()).getUint32(0)
  const start = LENGTH_BYTES + length
  const { stamp, index, files } = JSON.parse(await pack.slice(LENGTH_BYTES, start).text()) as Header
  const part = ({ offset, length }: Place) => pack.slice(start + offset, start + offset + length)
  return {
    stamp,
    index,
    find(name) {
      if (!Object.hasOwn(files, name)) return undefined
      const { type, gzip, brotli } = files[name]!
      return { type, gzip: part(gzip), ...(brotli && { brotli: part(brotli) }) }
    },
  }
}

/** The pack embedded in the executable, otherwise the one built next to the sources. Undefined if there is none. */
export async function findPack(): Promise<Pack | undefined> {
  if (Bun.isStandaloneExecutable) {
    const embedded = Bun.embeddedFiles.find((file) => (file as File).name.endsWith('.pack'))
    return embedded && readPack(embedded)
  }
  const file = Bun.file(WEB_PACK)
  return (await file.exists()) ? readPack(file) : undefined
}
