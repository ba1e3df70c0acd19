/**
 * A ZIP archive that is written while its files are made, whose sizes need not be known (APPNOTE 6.3.10: each file is
 * followed by a descriptor with its sizes). Always in the format for sizes above 4 GiB, which every current program reads.
 */
import { once } from 'node:events'
import { crc32, createDeflateRaw } from 'node:zlib'

export interface ZippedFile {
  name: string
  chunks: AsyncIterable<Uint8Array>
}

/** 4.5, the first version of the format with 64-bit sizes. */
const VERSION = 45

/** A descriptor follows the content, and names are UTF-8. */
const FLAGS = 0x0808

const DEFLATED = 8

/** The sizes are in the 64-bit fields instead. */
const IN_EXTRA = 0xff_ff_ff_ff

interface WrittenFile {
  name: Uint8Array
  crc: number
  compressed: number
  size: number
  offset: number
}

export async function* zipped(files: Iterable<ZippedFile>, at: Date): AsyncGenerator<Uint8Array> {
  const moment = dosMoment(at)
  const written: WrittenFile[] = []
  let offset = 0
  for (const { name, chunks } of files) {
    const file = { name: new TextEncoder().encode(name), crc: 0, compressed: 0, size: 0, offset }
    const header = localHeader(file, moment)
    yield header
    for await (const piece of deflated(chunks, file)) yield piece
    const end = descriptor(file)
    yield end
    offset += header.length + file.compressed + end.length
    written.push(file)
  }
  const entries = written.map((file) => directoryEntry(file, moment))
  yield* entries
  const size = entries.reduce((sum, { length }) => sum + length, 0)
  yield directoryEnd({ files: written.length, size, offset })
}

/** The content, whose sizes and checksum are added to `file`. */
async function* deflated(chunks: AsyncIterable<Uint8Array>, file: WrittenFile): AsyncGenerator<Uint8Array> {
  const stream = createDeflateRaw({ level: 3 })
  let output: Uint8Array[] = []
  stream.on('data', (bytes: Uint8Array) => output.push(bytes))
  const take = () => {
    const taken = output
    output = []
    for (const { length } of taken) file.compressed += length
    return taken
  }
  try {
    for await (const chunk of chunks) {
      file.crc = crc32(chunk, file.crc)
      file.size += chunk.length
      await new Promise<void>((resolve, reject) => stream.write(chunk, (error) => (error ? reject(error) : resolve())))
      yield* take()
    }
    const ended = once(stream, 'end')
    stream.end()
    await ended
    yield* take()
  } finally {
    stream.destroy()
  }
}

/** Bytes of a record: each value with the number of bytes that it takes, little-endian. */
function record(fields: readonly [bytes: 2 | 4 | 8, value: number][], ...texts: Uint8Array[]): Uint8Array {
  const head = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, value] of fields) {
    if (bytes === 8) head.writeBigUInt64LE(BigInt(value), at)
    else head.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return Buffer.concat([head, ...texts])
}

/** The date and time of the format, in two seconds and in no particular time zone: UTC. */
function dosMoment(at: Date): [2, number][] {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  return [
    [2, time],
    [2, date],
  ]
}

/** The 64-bit sizes, and where the file begins. */
const extra = (...values: number[]) =>
  record([[2, 1], [2, values.length * 8], ...values.map((value): [8, number] => [8, value])])

function localHeader({ name }: WrittenFile, moment: [2, number][]): Uint8Array {
  const sizes = extra(0, 0)
  const head: [2 | 4, number][] = [[4, 0x04_03_4b_50], [2, VERSION], [2, FLAGS], [2, DEFLATED], ...moment]
  return record([...head, [4, 0], [4, IN_EXTRA], [4, IN_EXTRA], [2, name.length], [2, sizes.length]], name, sizes)
}

const descriptor = ({ crc, compressed, size }: WrittenFile) =>
  record([
    [4, 0x08_07_4b_50],
    [4, crc],
    [8, compressed],
    [8, size],
  ])

function directoryEntry({ name, crc, compressed, size, offset }: WrittenFile, moment: [2, number][]): Uint8Array {
  const sizes = extra(size, compressed, offset)
  const head: [2 | 4, number][] = [
    [4, 0x02_01_4b_50],
    [2, VERSION],
    [2, VERSION],
    [2, FLAGS],
    [2, DEFLATED],
    ...moment,
    [4, crc],
    [4, IN_EXTRA],
    [4, IN_EXTRA],
  ]
  // No comment, the first disk, and no attributes.
  const rest: [2 | 4, number][] = [
    [2, name.length],
    [2, sizes.length],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, IN_EXTRA],
  ]
  return record([...head, ...rest], name, sizes)
}

function directoryEnd({ files, size, offset }: { files: number; size: number; offset: number }): Uint8Array {
  return record([
    [4, 0x06_06_4b_50],
    [8, 44],
    [2, VERSION],
    [2, VERSION],
    [4, 0],
    [4, 0],
    [8, files],
    [8, files],
    [8, size],
    [8, offset],
    // Where this record begins, for programs that look from the end.
    [4, 0x07_06_4b_50],
    [4, 0],
    [8, offset + size],
    [4, 1],
    [4, 0x06_05_4b_50],
    [2, 0xff_ff],
    [2, 0xff_ff],
    [2, 0xff_ff],
    [2, 0xff_ff],
    [4, IN_EXTRA],
    [4, IN_EXTRA],
    [2, 0],
  ])
}
