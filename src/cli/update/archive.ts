/** Unpacks the archive of a release, as scripts/release/archives.ts writes it. */
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { ExpansionError, ExpansionLimit } from '../../lib/expansion-limit.ts'
import { CommandError } from '../failures.ts'

/** A manual page has some 100 KB. */
const SHARED_LIMIT_BYTES = 4 * 1_048_576

/** Several times what a release has. */
const ARCHIVE_LIMIT_BYTES = 1_073_741_824

/** The files beside the executable by their path from the prefix, such as `share/man/man1/tally.1`. */
export type SharedFiles = ReadonlyMap<string, Buffer>

/**
 * Writes the executable to `to`, which must not exist, and returns what is installed beside it.
 *
 * @param path of an archive whose checksum is right
 * @param folder the name of the only folder in the archive
 */
export async function unpack(path: string, folder: string, to: string): Promise<SharedFiles> {
  const shared = new Map<string, Buffer>()
  let hasExecutable = false
  const files = extract()
  const limit = new ExpansionLimit(ARCHIVE_LIMIT_BYTES)
  const reading = pipeline(createReadStream(path), limit.before, createGunzip(), limit.after, files)
  const taking = (async () => {
    for await (const entry of files) {
      const { name, type, size = 0 } = entry.header
      if (type === 'file' && name === `${folder}/tally`) {
        await pipeline(entry, createWriteStream(to, { flags: 'wx', mode: 0o755 }))
        hasExecutable = true
      } else if (type === 'file' && name.startsWith(`${folder}/share/`) && size <= SHARED_LIMIT_BYTES) {
        shared.set(name.slice(folder.length + 1), Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Buffer>)))
      } else {
        entry.resume()
      }
    }
  })()
  try {
    await Promise.all([reading, taking])
  } catch (error) {
    if (!(error instanceof ExpansionError)) throw error
    throw new CommandError(`The archive is not that of a release: ${error.message}. Nothing was changed.`)
  }
  if (!hasExecutable) throw new CommandError(`The archive has no ${folder}/tally. Nothing was changed.`)
  return shared
}
