/** Writes exports off the main thread, page by page as their readers ask for them; see exporting.ts. */
import { openReadOnly } from '../../database/sqlite.ts'
import { entriesCsv } from './export.ts'
import type { FromExports, ToExports } from './exporting.ts'

declare const self: Worker

const running = new Map<number, AsyncGenerator<string>>()
const encoder = new TextEncoder()

const post = (message: FromExports, transfer: ArrayBuffer[] = []) => self.postMessage(message, transfer)

async function next(id: number): Promise<void> {
  try {
    const { done, value } = await running.get(id)!.next()
    if (done) {
      running.delete(id)
      post({ id, end: true })
      return
    }
    const bytes = encoder.encode(value)
    post({ id, bytes }, [bytes.buffer as ArrayBuffer])
  } catch (error) {
    running.delete(id)
    // An error that is posted loses its code, by which errors.ts knows it.
    const { message, code } = error as { message: string; code?: string }
    post({ id, error: { message, code } })
  }
}

self.onmessage = ({ data }: MessageEvent<ToExports>) => {
  if ('file' in data) running.set(data.id, entriesCsv(openReadOnly(data.file), data.question))
  else if ('stop' in data) running.delete(data.id)
  else next(data.id)
}
