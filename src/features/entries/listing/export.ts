/**
 * All entries that match a filter, newest first, as the bytes of a file: as fast as one thread can, in memory that does
 * not depend on their number.
 */

import type { Reader, SlowStream } from '../../../database/database.ts'
import { makeRoom } from '../../../lib/bounded-map.ts'
import { ByteWriter, encoded } from '../../../lib/byte-writer.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import type { Position } from '../../selection/contract.ts'
import { detailsOf } from '../rows.ts'
import type { ShownCosts } from '../wire.ts'
import { csvFormat } from './csv-export.ts'
import { type LineFormat, lineWriter, type SharedPart } from './export-lines.ts'
import { type ExportedCosts, PageCosts } from './exported-costs.ts'
import { labelNamesOf } from './label-names.ts'
import { ndjsonFormat } from './ndjson-export.ts'
import {
  AT,
  type CellName,
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
  ndjson: ndjsonFormat,
} satisfies Record<string, (basis: CostBasis, labelNames: readonly string[]) => LineFormat>

export type ExportFormat = keyof typeof FORMATS

export interface FileRequest extends ExportRequest, ShownCosts {
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

/** Rows or texts of a kind in memory before they are dropped: more tickets and branches than people work on. */
const TEXTS_LIMIT = 50_000

/** Combinations of rows whose text is found without looking up each of them. A power of two. */
const SLOTS = 4_096

/** The bytes of a file. */
export const ENTRY_EXPORT: SlowStream<FileRequest> = {
  name: 'entries.export',
  async *run(reader, { format, basis, seesFees, ...request }) {
    // The first line names the columns of labels.
    const labelNames = format === 'csv' ? yield* labelNamesOf(reader, request, WINDOW_MS) : []
    const shown: LineFormat = FORMATS[format](basis, labelNames)
    const writer = new ByteWriter()
    const texts = new PageTexts(reader, shown, { basis, seesFees })
    const writeLine = lineWriter(shown, texts)
    const shape = { limit: PAGE_ROWS, last: shown.last }
    writer.text(shown.heading)
    const pages = request.filter.billedOn ? pagesOfBill(reader, request, shape) : pagesOf(reader, request, shape)
    for await (const rows of pages) {
      await texts.load(rows)
      for (let at = 0; at < rows.length; at += 1) {
        writeLine(writer, rows[at]!, at)
        if (writer.length >= PIECE_BYTES) yield writer.take()
      }
      // Also if nothing matched: only between two pieces can an export be abandoned, and do others have their turn.
      if (rows.length < PAGE_ROWS) yield writer.take()
    }
    if (writer.length > 0) yield writer.take()
  },
}

type PageShape = Parameters<typeof exportedPages>[2]

/** The pages of each window end with one that is not full. */
async function* pagesOf(reader: Reader, request: ExportRequest, shape: PageShape): AsyncGenerator<ExportedRow[]> {
  const pageAfter = await exportedPages(reader, request, shape)
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
      const end = rows.at(-1)!
      last = { startedAt: end[AT.startedAt], id: end[AT.id] }
    }
    // No entry has the id 0: what comes next started earlier.
    before = { startedAt: from, id: 0 }
  }
}

/** No index has the entries of a bill in order of time, so they are put in order once, by their keys. */
async function* pagesOfBill(reader: Reader, request: ExportRequest, shape: PageShape): AsyncGenerator<ExportedRow[]> {
  const rowsOf = exportedByKeys(reader, shape)
  const keys = await listExportedKeys(reader, request)
  for (let at = 0; at < keys.length; at += PAGE_ROWS) yield await rowsOf(keys.slice(at, at + PAGE_ROWS))
}

/** The cells that refer to rows. */
const KEYS = {
  managers: AT.managerId,
  harnesses: AT.harnessId,
  agents: AT.agentId,
  models: AT.modelId,
  providers: AT.providerId,
  prices: AT.priceId,
  projects: AT.projectId,
  tickets: AT.ticketId,
  rules: AT.ruleVersionId,
  labels: AT.labelSetId,
  continued: AT.continuesId,
  duplicated: AT.duplicateId,
  bills: AT.billId,
  sheets: AT.sheetId,
  fundings: AT.fundingId,
} satisfies Record<Referred, (typeof AT)[CellName]>

/** The texts that the lines of a page share with others. */
class PageTexts {
  readonly parts: Record<string, readonly Uint8Array[]>
  readonly costs: readonly ExportedCosts[]
  readonly #parts: PartTexts[]
  readonly #costs: PageCosts
  readonly #details = new Map<string, Uint8Array[]>()
  readonly #noDetails: Uint8Array[]

  constructor(
    reader: Reader,
    readonly format: Pick<LineFormat, 'parts' | 'details'>,
    shown: ShownCosts,
  ) {
    const referred = new Map<Referred, ReferredRows>()
    const rowsOf = (kind: Referred) => {
      const rows = referred.get(kind) ?? new ReferredRows(reader, kind)
      referred.set(kind, rows)
      return rows
    }
    const parts = Object.entries(format.parts).map(([name, part]) => [name, new PartTexts(part, rowsOf)] as const)
    this.#parts = parts.map(([, texts]) => texts)
    this.parts = Object.fromEntries(parts.map(([name, { found }]) => [name, found]))
    this.#costs = new PageCosts(reader, shown, rowsOf('fundings'))
    this.costs = this.#costs.found
    this.#noDetails = format.details(null).map(encoded)
  }

  async load(rows: readonly ExportedRow[]): Promise<void> {
    for (const part of this.#parts) await part.load(rows)
    await this.#costs.load(rows)
  }

  readonly detailsOf = (column: string | null): readonly Uint8Array[] => {
    if (column === null) return this.#noDetails
    let texts = this.#details.get(column)
    if (!texts) {
      makeRoom(this.#details, TEXTS_LIMIT)
      texts = this.format.details(detailsOf({ usageDetails: column })).map(encoded)
      this.#details.set(column, texts)
    }
    return texts
  }
}

type KeyAt = (typeof KEYS)[Referred]

/** The texts of a part of a line. */
class PartTexts {
  /** By the position of the entry in its page. */
  readonly found: Uint8Array[] = []
  readonly #kinds: readonly { keyAt: KeyAt; rows: ReferredRows; textOf: (row: unknown) => string }[]
  /** The keys of a combination are in the slot that they give, one after the other, and its text. */
  readonly #keys: (number | null)[]
  readonly #texts: (Uint8Array | undefined)[] = new Array(SLOTS).fill(undefined)

  constructor(part: SharedPart, rowsOf: (kind: Referred) => ReferredRows) {
    const kinds = Object.entries(part) as [Referred, (row: unknown) => string][]
    this.#kinds = kinds.map(([kind, textOf]) => ({ keyAt: KEYS[kind], rows: rowsOf(kind), textOf }))
    this.#keys = new Array(SLOTS * kinds.length).fill(null)
  }

  async load(rows: readonly ExportedRow[]): Promise<void> {
    const missing: number[] = []
    for (let at = 0; at < rows.length; at += 1) if (!this.#find(rows[at]!, at)) missing.push(at)
    if (missing.length === 0) return
    for (const { keyAt, rows: referred } of this.#kinds) await referred.load(missing.map((at) => rows[at]![keyAt]))
    for (const at of missing) if (!this.#find(rows[at]!, at)) this.#add(rows[at]!, at)
  }

  #slotOf(row: ExportedRow): number {
    let hash = 0
    for (const { keyAt } of this.#kinds) hash = Math.imul(hash, 31) + ((row[keyAt] ?? 0) | 0)
    return hash & (SLOTS - 1)
  }

  #find(row: ExportedRow, at: number): boolean {
    const kinds = this.#kinds
    const slot = this.#slotOf(row)
    const text = this.#texts[slot]
    if (text === undefined) return false
    for (let kind = 0; kind < kinds.length; kind += 1) {
      if (this.#keys[slot * kinds.length + kind] !== row[kinds[kind]!.keyAt]) return false
    }
    this.found[at] = text
    return true
  }

  #add(row: ExportedRow, at: number): void {
    const slot = this.#slotOf(row)
    const texts = this.#kinds.map(({ keyAt, rows, textOf }, kind) => {
      this.#keys[slot * this.#kinds.length + kind] = row[keyAt]
      return textOf(rows.of(row[keyAt]))
    })
    this.found[at] = encoded(texts.join(''))
    this.#texts[slot] = this.found[at]
  }
}

/** The rows of one kind that entries refer to, by their keys. */
class ReferredRows {
  readonly #rows = new Map<number, unknown>()

  constructor(
    readonly reader: Reader,
    readonly kind: Referred,
  ) {}

  /** A row that was deleted since the page was read is referred to no more. */
  of(key: number | null): unknown {
    return key === null ? null : (this.#rows.get(key) ?? null)
  }

  /** Loads rows, unless they are in memory. */
  async load(keys: readonly (number | null)[]): Promise<void> {
    if (this.#rows.size > TEXTS_LIMIT) this.#rows.clear()
    const missing = new Set(keys.filter((key) => key !== null && !this.#rows.has(key)) as number[])
    if (missing.size === 0) return
    for (const row of await listReferred(this.reader, this.kind, [...missing])) this.#rows.set(row.key, row)
  }
}
