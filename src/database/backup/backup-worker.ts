/** Copies a database into a new file and verifies the copy, off the main thread; see backup.ts. */
import { Database as Connection } from 'bun:sqlite'
import { setPriority } from 'node:os'
import { copyWhole } from './copy.ts'

declare const self: Worker

/** The lowest priority that still makes progress: everything that a person waits for comes first. */
const NICENESS = 15

self.onmessage = ({ data: { from, to, madeAt } }: MessageEvent<{ from: string; to: string; madeAt: number }>) => {
  // Only on Linux does this apply to the calling thread alone; elsewhere it would apply to the whole process.
  if (process.platform === 'linux') setPriority(0, NICENESS)
  let reading: Connection | undefined
  try {
    reading = new Connection(from, { readonly: true })
    self.postMessage({ copy: copyWhole(reading, to, madeAt) })
  } catch (error) {
    // A posted error loses its code.
    const { message, code } = error as { message: string; code?: string }
    self.postMessage({ error: { message, code } })
  } finally {
    reading?.close()
  }
}
