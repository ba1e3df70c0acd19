/** An export of everything, as the bytes of a file, in memory that does not depend on how much there is. */
import type { Reader } from '../../database/database.ts'
import { Problem } from '../../errors.ts'
import { timestamp } from '../../lib/duration.ts'
import { type Header, PIECE_BYTES } from './format.ts'
import type { Kind } from './kind.ts'
import { BILL_DOCUMENT } from './kinds/bills.ts'
import { ENTRY, SESSION } from './kinds/entries.ts'
import { TOKEN } from './kinds/people.ts'
import { KINDS } from './kinds.ts'
import { Texts } from './references.ts'
import {
  countRows,
  eachPage,
  isBillPreparing,
  listEntriesOf,
  listParts,
  type Period,
  type Row,
  sessionsIn,
  withoutSession,
} from './store/rows.ts'
import { type Line, linesOf, type WholeRow } from './writing.ts'

/** Rows per page: a query takes a few milliseconds, and a few megabytes are in memory at a time. */
const PAGE_ROWS = 500

/** What is handed on at once. */
const CHUNK_BYTES = 262_144

export interface ExportOptions extends Period {
  header: Header
  onProgress(done: number, total: number): void
}

/** Counts lines by their type. */
export type Counts = Record<string, number>

/** The bytes of a file. Throws `in_use` while a bill is being prepared. */
export async function* exported(reader: Reader, options: ExportOptions): AsyncGenerator<Uint8Array, Counts> {
  if (await isBillPreparing(reader)) {
    throw new Problem('in_use', 'A bill is being prepared. Repeat the export when it has been sent, in a minute or so.')
  }
  const counts: Counts = {}
  const hash = new Bun.CryptoHasher('sha256')
  const total = await countRows(reader, 'entries')
  let text = `${JSON.stringify(options.header)}\n`
  const take = (): Uint8Array => {
    const bytes = new TextEncoder().encode(text)
    hash.update(bytes)
    text = ''
    return bytes
  }
  for await (const line of allLines(reader, options)) {
    const type = line.type as string
    counts[type] = (counts[type] ?? 0) + 1
    text += `${JSON.stringify(line)}\n`
    if (text.length < CHUNK_BYTES) continue
    options.onProgress(counts.entry ?? 0, total)
    yield take()
  }
  yield take()
  yield new TextEncoder().encode(`${JSON.stringify({ type: 'end', counts, sha256: hash.digest('hex') })}\n`)
  return counts
}

async function* allLines(reader: Reader, options: ExportOptions): AsyncGenerator<Line> {
  const texts = new Texts(reader)
  const isWhole = options.from === undefined && options.to === undefined
  for (const kind of KINDS) {
    if (!isWhole && !kind.isContext) continue
    if (kind === SESSION) yield* sessionLines(reader, texts, options)
    else if (kind === ENTRY) yield* entryLines(reader, texts, options)
    else if (kind === BILL_DOCUMENT) yield* documentLines(reader, texts)
    else if (kind === TOKEN) yield* tokenLines(reader, texts, options)
    else
      for await (const rows of pagesOf(reader, kind, kind.chosen?.(reader)))
        yield* await wholeLines(reader, texts, kind, rows)
  }
}

function pagesOf(reader: Reader, kind: Kind, where?: Parameters<typeof eachPage>[1]['where']): AsyncGenerator<Row[]> {
  const { table: name, fields, order, parts } = kind
  const more = Object.keys(parts).length > 0 ? ['id'] : []
  return eachPage(reader, { name, fields, order, more, where }, PAGE_ROWS)
}

/** The lines of rows with what belongs to them. */
async function wholeLines(reader: Reader, texts: Texts, kind: Kind, rows: readonly Row[]): Promise<Line[]> {
  const keys = rows.map(({ id }) => id as number)
  const whole: WholeRow[] = rows.map((row) => ({ row, parts: {} }))
  for (const [name, part] of Object.entries(kind.parts)) {
    const found = await listParts(reader, part, keys)
    for (const [position, { parts }] of whole.entries()) parts[name] = found.get(keys[position]!) ?? []
  }
  return linesOf(texts, kind, whole)
}

/** Each session with its entries. */
async function* sessionLines(reader: Reader, texts: Texts, period: Period): AsyncGenerator<Line> {
  for await (const rows of pagesOf(reader, SESSION, sessionsIn(reader, period))) {
    const sessions = await wholeLines(reader, texts, SESSION, rows)
    const keys = rows.map(({ id }) => id as number)
    const entries = await listEntriesOf(reader, ENTRY.fields, keys)
    const lines = await wholeLines(
      reader,
      texts,
      ENTRY,
      entries.map((row) => ({ ...row, inSession: true })),
    )
    const bySession = Map.groupBy(lines.entries(), ([position]) => entries[position]!.sessionId as number)
    for (const [position, session] of sessions.entries()) {
      yield session
      for (const [, line] of bySession.get(keys[position]!) ?? []) yield line
    }
  }
}

async function* entryLines(reader: Reader, texts: Texts, period: Period): AsyncGenerator<Line> {
  for await (const rows of pagesOf(reader, ENTRY, withoutSession(reader, period))) {
    yield* await wholeLines(
      reader,
      texts,
      ENTRY,
      rows.map((row) => ({ ...row, inSession: false })),
    )
  }
}

/** A token without its secret is of no use: one that is still valid is revoked at the time of the export. */
async function* tokenLines(reader: Reader, texts: Texts, { header }: ExportOptions): AsyncGenerator<Line> {
  for await (const rows of pagesOf(reader, TOKEN)) {
    for (const line of await wholeLines(reader, texts, TOKEN, rows)) {
      yield { ...line, revoked_at: line.revoked_at ?? header.exported_at }
    }
  }
}

/** The pieces of each document. */
async function* documentLines(reader: Reader, texts: Texts): AsyncGenerator<Line> {
  const { table: name, fields, order } = BILL_DOCUMENT
  for await (const rows of eachPage(reader, { name, fields, order }, 1)) {
    const document = rows[0]!.bytes as Uint8Array
    const pieces = Math.max(1, Math.ceil(document.length / PIECE_BYTES))
    for (let piece = 1; piece <= pieces; piece += 1) {
      const bytes = document.subarray((piece - 1) * PIECE_BYTES, piece * PIECE_BYTES)
      yield* await linesOf(texts, BILL_DOCUMENT, [{ row: { ...rows[0], piece, pieces, bytes }, parts: {} }])
    }
  }
}

export function headerOf(
  { name, exportedAt, version }: { name: string; exportedAt: number; version: string },
  { from, to }: Period,
): Header {
  const moment = (value: number | undefined) => (value === undefined ? null : timestamp(value))
  return {
    format: 'tally-export',
    version: 1,
    tally: version,
    exported_at: timestamp(exportedAt),
    organization: name,
    period: from === undefined && to === undefined ? null : { from: moment(from), to: moment(to) },
  }
}
