/** Writes exports off the main thread, page by page as their readers request them; see export-thread.ts. */
import { openReadOnly } from '../../../database/engines/sqlite/connections.ts'
import { entriesCsv } from './csv-export.ts'
import type { BeginExport, FromExports, ToExports } from './export-thread.ts'

declare const self: Worker

interface Running {
  pages: AsyncGenerator<string>
  close(): void
}

const running = new Map<number, Running>()
const encoder = new TextEncoder()

const post = (message: FromExports, transfer: ArrayBuffer[] = []) => self.postMessage(message, transfer)

function begin({ id, file, request }: BeginExport): void {
  const { reader, close } = openReadOnly(file)
  running.set(id, { pages: entriesCsv(reader, request), close })
}

function end(id: number): void {
  if (!running.has(id)) return
  running.get(id)!.close()
  running.delete(id)
  // The connection keeps its memory until its statements are garbage-collected.
  Bun.gc(true)
}

async function next(id: number): Promise<void> {
  try {
    const { done, value } = await running.get(id)!.pages.next()
    if (done) {
      end(id)
      post({ id, end: true })
      return
    }
    const bytes = encoder.encode(value)
    post({ id, bytes }, [bytes.buffer as ArrayBuffer])
  } catch (error) {
    end(id)
    // A posted error loses its code, which errors.ts needs.
    const { message, code } = error as { message: string; code?: string }
    post({ id, error: { message, code } })
  }
}

self.onmessage = ({ data }: MessageEvent<ToExports>) => {
  if ('file' in data) begin(data)
  else if ('stop' in data) end(data.id)
  // An export may have been stopped while its next page was requested.
  else if (running.has(data.id)) next(data.id)
}
