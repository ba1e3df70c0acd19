/** A ZIP archive that is written while its files are made, whose sizes need not be known. */
import { Readable } from 'node:stream'

export interface ZippedFile {
  name: string
  chunks: AsyncIterable<Uint8Array>
}

/** Of 9. Takes less time than the usual 6, and the server has others to answer meanwhile. */
const LEVEL = 3

export async function* zipped(files: Iterable<ZippedFile>, at: Date): AsyncGenerator<Uint8Array> {
  // Few servers ever write an archive.
  const { ZipFile } = await import('yazl')
  const archive = new ZipFile()
  const output = archive.outputStream as Readable
  const fail = (error: Error) => output.destroy(error)
  archive.on('error', fail)
  const contents: Readable[] = []
  for (const { name, chunks } of files) {
    const content = Readable.from(chunks, { objectMode: false }).on('error', fail)
    contents.push(content)
    // Its size is not known yet, and may be above 4 GiB.
    archive.addReadStream(content, name, { mtime: at, compressionLevel: LEVEL, forceZip64Format: true })
  }
  archive.end()
  try {
    yield* output
  } finally {
    // Whoever stops reading, or a file that cannot be made, ends the others.
    for (const content of contents) content.destroy()
  }
}
