/**
 * Imports a file into an empty database, in one transaction: either everything is there afterwards, or nothing is, also
 * if the process is killed.
 */

import type { Database, Tx } from '../../database/database.ts'
import { failureOf } from '../../database/errors.ts'
import { Problem } from '../../errors.ts'
import type { Interned } from '../entries/contract.ts'
import { type FileSummary, type ReadLine, readLines } from './file.ts'
import type { Kind } from './kind.ts'
import { BILL_DOCUMENT } from './kinds/bills.ts'
import { ENTRY, SESSION } from './kinds/entries.ts'
import { SETTINGS } from './kinds/settings.ts'
import { KINDS } from './kinds.ts'
import { wrongLine } from './problems.ts'
import { type ReadRow, readRow, wantOf } from './reading.ts'
import { Keys } from './references.ts'
import { continueKeys, countPeopleAndSettings, removeDefaults } from './store/empty.ts'
import { findIdentified } from './store/references.ts'
import { countRows, insertRows, type Row, reserveKeys, updateRows } from './store/rows.ts'

/** Lines per statement, and their size in the file. */
const BATCH_LINES = 500
const BATCH_BYTES = 4_194_304

/** A whole database is written at once, which takes minutes per million entries on a slow disk. */
export const IMPORT_PATIENCE_MS = 86_400_000

export interface ImportOptions {
  /** An open file. */
  file: number
  interned: Interned
  onProgress(bytes: number): void
}

/** The session that the entries after it belong to. Its key is known when it is written. */
interface OpenSession {
  key?: number
}

/** What a batch has of each line. */
interface Item extends ReadLine {
  session: OpenSession | undefined
}

/** Writes the rows of a file. The file was checked before. */
export async function importRows(tx: Tx, db: Pick<Database, 'engine'>, options: ImportOptions): Promise<FileSummary> {
  await requireEmpty(tx)
  await removeDefaults(tx)
  await options.interned.follow(tx)
  const writer = new Writer(tx, options.interned)
  const lines = readLines(options.file, { checks: false })
  for (;;) {
    const { done, value } = lines.next()
    if (done) {
      await writer.finish()
      if (db.engine === 'postgres') await continueKeys(tx)
      return value
    }
    await writer.add(value)
    options.onProgress(value.bytes)
  }
}

/** What an empty database may contain: prices that Tally loads by itself, and the changes of that in its audit log. */
const MAY_EXIST = ['organization', 'prices', 'priceLoads', 'priceAliases', 'audit']

async function requireEmpty(tx: Tx): Promise<void> {
  const { isSetUp, changes } = await countPeopleAndSettings(tx)
  const counted: [string, number][] = []
  for (const { type, table } of KINDS) {
    if (!MAY_EXIST.includes(table)) counted.push([type, await countRows(tx, table)])
  }
  const found = counted.filter(([, count]) => count > 0).map(([type, count]) => `${type}: ${count}`)
  if (found.length === 0 && !isSetUp && changes === 0) return
  const what = found.length > 0 ? ` (${found.join(', ')})` : ''
  throw new Problem(
    'in_use',
    `This database is already in use${what}. Import into a new one with --data or --database-url, or add only the entries to this one with --merge.`,
  )
}

class Writer {
  readonly #keys: Keys
  readonly #later: (ReadRow['later'][number] & { kind: Kind; id: number; number: number })[] = []
  #batch: Item[] = []
  #batchFrom = 0
  #session: OpenSession | undefined
  /** How many were added. */
  #sessions = 0
  #document: Uint8Array[] = []

  constructor(
    readonly tx: Tx,
    interned: Interned,
  ) {
    this.#keys = new Keys(tx, interned)
  }

  async add(line: ReadLine): Promise<void> {
    const { kind, number } = line
    const last = this.#batch.at(-1)
    if (last && !isOneBatch(last.kind, kind)) await this.#flush()
    if (kind === SESSION) this.#session = {}
    if (kind === ENTRY && line.line.in_session && !this.#session) {
      throw wrongLine(number, 'an entry of a session must follow the line of its session.')
    }
    if (this.#batch.length === 0) this.#batchFrom = line.bytes
    this.#batch.push({ ...line, session: kind === ENTRY && line.line.in_session ? this.#session : this.#own(kind) })
    const isFull = this.#batch.length >= BATCH_LINES || line.bytes - this.#batchFrom >= BATCH_BYTES
    if (isFull || kind.isSelfReferring || kind === BILL_DOCUMENT) await this.#flush()
  }

  /** The place for the key of a session itself. */
  #own(kind: Kind): OpenSession | undefined {
    return kind === SESSION ? this.#session : undefined
  }

  async finish(): Promise<void> {
    await this.#flush()
    if (this.#document.length > 0) throw new Problem('validation_failed', 'The last document is incomplete.')
    await this.#refer()
  }

  async #flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    const byKind = Map.groupBy(batch, ({ kind }) => kind)
    // The batch may begin with entries of an earlier session.
    for (const kind of KINDS) {
      const items = byKind.get(kind)
      if (!items) continue
      await this.#keys.load(wantOf(kind, items))
      if (kind === SETTINGS) await this.#change(kind, items)
      else if (kind === BILL_DOCUMENT) await this.#addPiece(items[0]!)
      else await this.#insert(kind, items)
    }
  }

  async #change(kind: Kind, items: readonly Item[]): Promise<void> {
    for (const item of items) {
      const { number, row } = readRow(kind, item, this.#keys)
      await explained(number, number, () => updateRows(this.tx, kind.table, [row as Row & { id: number }]))
    }
  }

  async #insert(kind: Kind, items: readonly Item[]): Promise<void> {
    const own = new Map(kind === ENTRY ? items.map(({ line }) => [line.id as string, line.position as number]) : [])
    const read = items.map((item) => readRow(kind, item, this.#keys, own))
    if (kind === ENTRY) {
      for (const [at, { session }] of items.entries()) read[at]!.row.sessionId = session?.key ?? null
      for (const { row } of read) delete row.inSession
      // Entries refer to earlier ones.
      read.sort((a, b) => (a.row.id as number) - (b.row.id as number))
    } else if (needsKey(kind)) {
      const keys =
        kind === SESSION ? this.#sessionKeys(read.length) : await reserveKeys(this.tx, kind.table, read.length)
      for (const [at, { row }] of read.entries()) row.id = keys[at]!
      if (kind === SESSION) for (const [at, { session }] of items.entries()) session!.key = keys[at]!
    }
    const [first, last] = [items[0]!.number, items.at(-1)!.number]
    await explained(first, last, async () => {
      await insertRows(
        this.tx,
        kind.table,
        read.map(({ row }) => row),
      )
      for (const [name, { table, of }] of Object.entries(kind.parts)) {
        const rows = read.flatMap(({ row, parts }) => parts[name]!.map((part) => ({ ...part, [of]: row.id })))
        await insertRows(this.tx, table, rows)
      }
    })
    for (const { row, later, number } of read) {
      for (const reference of later) this.#later.push({ ...reference, kind, number, id: row.id as number })
    }
  }

  /**
   * From 1, because the database is empty: entries keep their keys, and where they are partitioned, none may be of an
   * earlier month than its session.
   */
  #sessionKeys(count: number): number[] {
    const keys = Array.from({ length: count }, (_, at) => this.#sessions + at + 1)
    this.#sessions += count
    return keys
  }

  async #addPiece(item: Item): Promise<void> {
    const { row, number } = readRow(BILL_DOCUMENT, item, this.#keys)
    const { piece, pieces, bytes, ...document } = row
    if (piece !== this.#document.length + 1 || (piece as number) > (pieces as number)) {
      throw wrongLine(number, 'the pieces of a document are not in order.')
    }
    this.#document.push(bytes as Uint8Array)
    if (piece !== pieces) return
    const whole = Buffer.concat(this.#document)
    this.#document = []
    await explained(number, number, () => insertRows(this.tx, BILL_DOCUMENT.table, [{ ...document, bytes: whole }]))
  }

  /** Sets the references to rows that came later. */
  async #refer(): Promise<void> {
    for (const { to, text, kind, column, id, number } of this.#later) {
      const [found] = await findIdentified(this.tx, to as 'entries', [text])
      if (!found) throw wrongLine(number, `refers to ${text}, which is not in the file.`)
      await explained(number, number, () => updateRows(this.tx, kind.table, [{ id, [column]: found.key }]))
    }
  }
}

/** A session and its entries are written together. */
function isOneBatch(one: Kind, other: Kind): boolean {
  return one === other || (one === SESSION && other === ENTRY) || (one === ENTRY && other === SESSION)
}

function needsKey({ parts, fields }: Kind): boolean {
  return Object.keys(parts).length > 0 || Object.values(fields).some(({ refers }) => refers?.later)
}

/** Failures that the contents of lines cause, such as an invalid combination of values. */
const OF_LINES: readonly string[] = ['unique', 'foreign_key', 'constraint', 'unknown']

/** Errors of the database that the contents of lines cause name these lines. */
async function explained(first: number, last: number, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    const failure = failureOf(error)
    if (error instanceof Problem || !OF_LINES.includes(failure)) throw error
    const lines = first === last ? `Line ${first}` : `Lines ${first} to ${last}`
    const reason = failure === 'unique' ? 'something with the same id, name or number exists already' : messageOf(error)
    throw new Problem('validation_failed', `${lines}: ${reason}. Create the file again with \`tally export\`.`)
  }
}

function messageOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}
