/**
 * Opens a link that nobody else may see: not as an argument, which every user of the machine can read in the process list, but
 * by a file that forwards to it.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from '../../agents/private-files.ts'
import { hasBrowser } from '../../config.ts'
import type { Place } from './place.ts'

const FILE = /^open-\w+\.html$/

/** Undefined where no browser would appear in front of the person. */
export function findOpener(): string[] | undefined {
  if (!hasBrowser()) return undefined
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return Bun.which('xdg-open') ? ['xdg-open'] : undefined
}

/** Returns what removes the file. Throws if the opener cannot be started. */
export function openPrivately(place: Place, opener: readonly string[], link: string): () => void {
  const path = join(place.folder, `open-${crypto.randomUUID().slice(0, 8)}.html`)
  const address = Bun.escapeHTML(link)
  writePrivateFile(
    path,
    `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${address}">
<title>Tally</title>
<a href="${address}">Open Tally</a>
`,
  )
  Bun.spawn([...opener, path], { detached: true, windowsHide: true, stdio: ['ignore', 'ignore', 'ignore'] }).unref()
  return () => rmSync(path, { force: true })
}

/** Of a command that was killed while it waited. */
export function removeLeftFiles({ folder }: Place): void {
  for (const name of readdirSync(folder)) if (FILE.test(name)) rmSync(join(folder, name), { force: true })
}
