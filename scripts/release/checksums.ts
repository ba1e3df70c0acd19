/** The checksums of the files of a release, in the form that `sha256sum --check` reads. */
import { basename, join } from 'node:path'

/** SHA-256 in hexadecimal digits by the name of the file, in the order of `SHA256SUMS`. */
export type Checksums = ReadonlyMap<string, string>

export async function checksumsOf(files: readonly string[]): Promise<Checksums> {
  const sums = new Map<string, string>()
  for (const file of files) {
    const hash = new Bun.CryptoHasher('sha256')
    for await (const chunk of Bun.file(file).stream()) hash.update(chunk)
    sums.set(basename(file), hash.digest('hex'))
  }
  return sums
}

/** Writes `SHA256SUMS` to a folder. */
export async function writeChecksums(folder: string, sums: Checksums): Promise<void> {
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`)
  await Bun.write(join(folder, 'SHA256SUMS'), lines.join(''))
}
