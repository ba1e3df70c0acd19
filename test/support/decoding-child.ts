/**
 * Decodes the bombs of a decoder and prints the peak growth of memory in MB for each, in a separate process whose
 * memory nothing else uses. Runs the same code as the server, without HTTP and without the database.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { readLogo } from '../../src/features/organization/logo.ts'
import { readTable } from '../../src/features/prices/formats/table-file.ts'
import { readRows } from '../../src/features/sheets/csv.ts'
import { Decoding } from '../../src/features/telemetry/decoding-thread.ts'
import type { Kind } from '../../src/features/telemetry/otlp/decode.ts'
import { readBatch, readJson } from '../../src/http/body.ts'
import { BodyMemory } from '../../src/http/load-limits.ts'
import { type Bomb, bombsFor } from './bombs.ts'

const PART_BYTES = 65_536

function megabytes(name: 'VmRSS' | 'VmHWM'): number {
  return (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024) / 1e6
}

/** In chunks, as from a socket: only the decoder has the whole body. */
async function* inParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PART_BYTES) yield bytes.slice(start, start + PART_BYTES)
}

const decoding = new Decoding()
const bodyMemory = new BodyMemory()
const utf8 = new TextDecoder()

type Form = Pick<Bomb, 'decoder' | 'path' | 'contentType'> & { gzip?: true | undefined }

async function decode(bomb: Form, bytes: Uint8Array): Promise<void> {
  const stream = inParts(bytes)
  const request = { headers: new Headers({ 'content-type': bomb.contentType }), body: stream } as unknown as Request
  try {
    await decoderOf(bomb, request, stream, bytes)
  } catch {
    // Most are refused.
  } finally {
    bodyMemory.release(request)
  }
}

async function decoderOf(bomb: Form, request: Request, stream: AsyncIterable<Uint8Array>, bytes: Uint8Array) {
  switch (bomb.decoder) {
    case 'otlp-json':
    case 'otlp-protobuf': {
      const encoding = bomb.decoder === 'otlp-json' ? 'json' : 'protobuf'
      const kind = bomb.path.split('/').at(-1) as Kind
      return decoding.read({ kind, encoding, gzip: bomb.gzip ?? false, contentLength: null, parts: stream })
    }
    case 'report':
      return readJson({ request, bodyMemory })
    case 'batch':
      return readBatch({ request, bodyMemory })
    case 'table':
      return readTable(utf8.decode(bytes))
    case 'sheet':
      return readRows(utf8.decode(bytes), 'UTC')
    case 'picture':
      return readLogo(bytes)
  }
}

const SMALL = new TextEncoder().encode('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}],"a":[1]}')

async function main(decoder: Bomb['decoder']): Promise<void> {
  const figures: Record<string, number> = {}
  const bombs = bombsFor(decoder)
  // Warm-up: threads and compiled code do not count.
  for (let count = 0; count < 50; count += 1) await decode({ ...bombs[0]!, gzip: undefined }, SMALL)
  for (const bomb of bombs) {
    const bytes = bomb.make()
    Bun.gc(true)
    // Freed pages return to the system a little later.
    await Bun.sleep(300)
    const before = megabytes('VmRSS')
    writeFileSync('/proc/self/clear_refs', '5')
    await decode(bomb, bytes)
    figures[bomb.name] = Math.round(megabytes('VmHWM') - before)
  }
  console.log(JSON.stringify(figures))
  process.exit(0)
}

await main(process.argv[2] as Bomb['decoder'])
