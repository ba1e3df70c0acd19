/** Compressed tar archives whose bytes depend on nothing but the files and a time: all files belong to root. */
import { dirname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import type { InstalledFile } from './release.ts'

/** Executables compress to a third; the highest level would take twice as long for one per cent. */
export const LEVEL = 6

interface TarOptions {
  /** Whether the folders of the files have entries of their own, before what is in them. */
  hasFolders?: boolean
}

/** @param mtime of all files */
export async function tarGz(
  files: readonly InstalledFile[],
  mtime: Date,
  { hasFolders = false }: TarOptions = {},
): Promise<Buffer> {
  const tar = pack()
  const common = { uid: 0, gid: 0, uname: 'root', gname: 'root', mtime }
  const folders = new Set<string>()
  const addFolder = (path: string) => {
    if (folders.has(path)) return
    if (path !== '.') addFolder(dirname(path))
    folders.add(path)
    tar.entry({ name: `${path}/`, type: 'directory', mode: 0o755, ...common })
  }
  for (const { path, content, mode } of files) {
    if (hasFolders) addFolder(dirname(path))
    tar.entry({ name: path, mode, ...common }, Buffer.from(content))
  }
  tar.finalize()
  return gzipSync(Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Buffer>)), { level: LEVEL })
}
