import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'

/** What is in the archive of a package for npm. */
export interface NpmPackage {
  path: string
  /** What its `package.json` says. */
  manifest: { name: string; version: string } & Record<string, unknown>
  files: Record<string, { mode: number; bytes: Buffer }>
}

export async function readNpmPackage(path: string): Promise<NpmPackage> {
  const tar = extract()
  tar.end(gunzipSync(await readFile(path)))
  const files: NpmPackage['files'] = {}
  for await (const entry of tar) {
    const bytes = Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Buffer>))
    files[entry.header.name] = { mode: entry.header.mode!, bytes }
  }
  return { path, manifest: JSON.parse(files['package/package.json']!.bytes.toString()), files }
}
