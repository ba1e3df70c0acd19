/** Copies a database into a new file and verifies the copy, off the main thread; see backup.ts. */
import { Database as Connection } from 'bun:sqlite'
import { setPriority } from 'node:os'
import { copyWhole } from './copy.ts'

declare const self: Worker

/** Behind everything that somebody waits for. */
const NICENESS = 15

self.onmessage = ({ data: { from, to } }: MessageEvent<{ from: string; to: string }>) => {
  // Linux alone takes this for the calling thread; elsewhere it would be the whole process.
  if (process.platform === 'linux') setPriority(0, NICENESS)
  let reading: Connection | undefined
  try {
    reading = new Connection(from, { readonly: true })
    self.postMessage({ copy: copyWhole(reading, to) })
  } catch (error) {
    // An error that is posted loses its code.
    const { message, code } = error as { message: string; code?: string }
    self.postMessage({ error: { message, code } })
  } finally {
    reading?.close()
  }
}
