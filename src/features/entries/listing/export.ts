/**
 * All entries that match a filter, newest first, as the bytes of a file: as fast as one thread can, in memory that does
 * not depend on their number.
 */

import type { Reader, SlowStream } from '../../../database/database.ts'
import { makeRoom } from '../../../lib/bounded-map.ts'
import { ByteWriter, encoded } from '../../../lib/byte-writer.ts'
import type { Position } from '../../selection/contract.ts'
import { detailsOf } from '../rows.ts'
import { csvFormat } from './csv-export.ts'
import type { LineFormat, SharedTexts } from './export-lines.ts'
import { labelNamesOf } from './label-names.ts'
import { NDJSON } from './ndjson-export.ts'
import {
  type ExportedRow,
  type ExportRequest,
  exportedByKeys,
  exportedPages,
  findLatestStart,
  listExportedKeys,
  listReferred,
  type Referred,
} from './store/export.ts'

const FORMATS = {
  csv: csvFormat,
  ndjson: () => NDJSON,
} satisfies Record<string, (labelNames: readonly string[]) => LineFormat>

export type ExportFormat = keyof typeof FORMATS

export interface FileRequest extends ExportRequest {
  format: ExportFormat
}

/** Rows per page: the query takes a few milliseconds, and at most a few megabytes are in memory at a time. */
const PAGE_ROWS = 1_000

/**
 * How far back a page looks for entries that match. Without an index for the filter, it reads everything in between: of
 * ten million entries in two years, some 100,000.
 */
const WINDOW_MS = 7 * 86_400_000

/** What is handed on at once. Each window ends a piece, which may be smaller or empty. */
const PIECE_BYTES = 262_144

/** Texts of a kind in memory before they are dropped: more tickets and branches than people work on. */
const TEXTS_LIMIT = 50_000

/** The bytes of a file. */
export const ENTRY_EXPORT: SlowStream<FileRequest> = {
  name: 'entries.export',
  async *run(reader, { format, ...request }) {
    // The first line names the columns of labels.
    const labelNames = format === 'csv' ? yield* labelNamesOf(reader, request, WINDOW_MS) : []
    const { heading, line, ...written } = FORMATS[format](labelNames)
    const kinds = KINDS.filter((kind) => !written.unused.includes(kind))
    const writer = new ByteWriter()
    const texts = textsOf(reader, written)
    writer.text(heading)
    for await (const rows of request.filter.billedOn ? pagesOfBill(reader, request) : pagesOf(reader, request)) {
      for (const kind of kinds) await texts[kind].load(rows, KEYS[kind])
      for (const row of rows) {
        line(writer, row, texts)
        if (writer.length >= PIECE_BYTES) yield writer.take()
      }
      // Also if nothing matched: only between two pieces can an export be abandoned, and do others have their turn.
      if (rows.length < PAGE_ROWS) yield writer.take()
    }
    if (writer.length > 0) yield writer.take()
  },
}

/** The pages of each window end with one that is not full. */
async function* pagesOf(reader: Reader, request: ExportRequest): AsyncGenerator<ExportedRow[]> {
  const pageAfter = await exportedPages(reader, request, PAGE_ROWS)
  let before: Position | undefined
  for (;;) {
    const latest = await findLatestStart(reader, request.filter, before)
    if (latest === undefined) return
    const from = latest - WINDOW_MS
    let last: Position = { startedAt: latest, id: Number.MAX_SAFE_INTEGER }
    for (;;) {
      const rows = await pageAfter(last, from)
      yield rows
      if (rows.length < PAGE_ROWS) break
      const { startedAt, id } = rows.at(-1)!
      last = { startedAt, id }
    }
    // No entry has the id 0: what comes next started earlier.
    before = { startedAt: from, id: 0 }
  }
}

/** No index has the entries of a bill in order of time, so they are put in order once, by their keys. */
async function* pagesOfBill(reader: Reader, request: ExportRequest): AsyncGenerator<ExportedRow[]> {
  const rowsOf = exportedByKeys(reader, PAGE_ROWS)
  const keys = await listExportedKeys(reader, request)
  for (let at = 0; at < keys.length; at += PAGE_ROWS) yield await rowsOf(keys.slice(at, at + PAGE_ROWS))
}

type KeyOf = (row: ExportedRow) => number | null

/** The keys of the rows that an entry refers to. */
const KEYS: Record<Referred, KeyOf> = {
  managers: (row) => row.managerId,
  managerIds: (row) => row.managerId,
  harnesses: (row) => row.harnessId,
  agents: (row) => row.agentId,
  models: (row) => row.modelId,
  providers: (row) => row.providerId,
  prices: (row) => row.priceId,
  projects: (row) => row.projectId,
  tickets: (row) => row.ticketId,
  rules: (row) => row.ruleVersionId,
  labels: (row) => row.labelSetId,
  labelCells: (row) => row.labelSetId,
  continued: (row) => row.continuesId,
  duplicated: (row) => row.duplicateId,
  bills: (row) => row.billId,
  sheets: (row) => row.sheetId,
}

/** The texts of the rows of one kind, by their keys. */
class RowTexts {
  readonly #texts = new Map<number, Uint8Array>()

  constructor(
    readonly none: Uint8Array,
    readonly list: (keys: number[]) => Promise<{ key: number; text: Uint8Array }[]>,
  ) {}

  of(key: number | null): Uint8Array {
    return key === null ? this.none : this.#texts.get(key)!
  }

  /** Loads the texts of the rows that these entries refer to, unless they are in memory. */
  async load(rows: ExportedRow[], keyOf: KeyOf): Promise<void> {
    if (this.#texts.size > TEXTS_LIMIT) this.#texts.clear()
    const missing = new Set<number>()
    // Neighbours often refer to the same row.
    let last: number | null = null
    for (const row of rows) {
      const key = keyOf(row)
      if (key === last || key === null) continue
      if (!this.#texts.has(key)) missing.add(key)
      last = key
    }
    if (missing.size === 0) return
    for (const { key, text } of await this.list([...missing])) this.#texts.set(key, text)
  }
}

const KINDS = Object.keys(KEYS) as Referred[]

function textsOf(reader: Reader, { referred, details }: Pick<LineFormat, 'referred' | 'details'>) {
  const ofKind = (kind: Referred) => {
    const textOf = referred[kind] as (row: unknown) => string
    return new RowTexts(encoded(textOf(null)), async (keys) =>
      (await listReferred(reader, kind, keys)).map((row) => ({ key: row.key, text: encoded(textOf(row)) })),
    )
  }
  const ofRows = Object.fromEntries(KINDS.map((kind) => [kind, ofKind(kind)])) as Record<Referred, RowTexts>
  return { ...ofRows, details: new DetailsTexts(details) } satisfies SharedTexts
}

class DetailsTexts {
  readonly #texts = new Map<string, Uint8Array[]>()
  readonly #none: Uint8Array[]

  constructor(readonly write: LineFormat['details']) {
    this.#none = write(null).map(encoded)
  }

  of(column: string | null): readonly Uint8Array[] {
    if (column === null) return this.#none
    let texts = this.#texts.get(column)
    if (!texts) {
      makeRoom(this.#texts, TEXTS_LIMIT)
      texts = this.write(detailsOf({ usageDetails: column })).map(encoded)
      this.#texts.set(column, texts)
    }
    return texts
  }
}
