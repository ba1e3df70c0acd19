/**
 * Moves a database to another one, of either engine, with all tables as they are: ids, passwords, tokens and documents
 * stay the same.
 *
 * First the old database is frozen: its triggers refuse every write, of servers too, until the move has ended or is
 * cancelled, so what is copied does not change, and an interrupted move continues with the rows that are missing. The
 * new database has no indexes, references or triggers while it is filled. At the end both are read once more and
 * compared.
 */

import { createHash } from 'node:crypto'
import { counted } from '../../lib/counted.ts'
import { WrongDatabase } from '../wrong-database.ts'
import { textOf } from './copy-text.ts'
import { PostgresSide } from './postgres-side.ts'
import type { Mark, Source, Sums, Target } from './side.ts'
import { SqliteSide } from './sqlite-side.ts'
import { type MovedTable, movedTables } from './tables.ts'

export { movedTables }

interface SideOptions {
  tables: readonly MovedTable[]
  now: number
  /** Whether to make a database in an empty folder. */
  creates: boolean
}

/** Opens and migrates a database of either engine. Throws {@link WrongDatabase}. */
export async function openSide(
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | undefined },
  { tables, now, creates }: SideOptions,
): Promise<Source & Target> {
  if (databaseUrl) return PostgresSide.open(databaseUrl, tables, now)
  return new SqliteSide(dataDir, tables, { now, creates })
}

/** Ids of a numbered table that are copied in one transaction: what an interruption costs. */
const PORTION = 250_000n

export type Phase = 'copying' | 'restoring' | 'comparing'

export interface MoveOptions {
  source: Source
  target: Target
  tables: readonly MovedTable[]
  now: () => number
  onProgress: (phase: Phase, doneRows: number, totalRows: number) => void
}

export interface Moved {
  rows: number
  /** Rows of this run: fewer if it continued an interrupted one. */
  copied: number
  copyingMs: number
  tables: Content[]
  sums: Sums
}

/** What both databases have in a table. */
interface Content {
  name: string
  rows: number
  /** Of all rows in the order of their key, as lines of COPY's text format. */
  sha256: string
}

/**
 * Moves everything, or what is missing. Throws {@link WrongDatabase} if the target is in use or belongs to another move,
 * and if the databases differ at the end: then the source stays frozen and the target refuses to be opened.
 */
export async function move(options: MoveOptions): Promise<Moved> {
  const { source, target, tables, now, onProgress } = options
  const mark = await begin(source, target, now())
  const counts = await Promise.all(tables.map((table) => source.count(table)))
  const rows = counts.reduce((sum, count) => sum + count, 0)
  const progress = new RowCount((done) => onProgress('copying', done, rows))
  let copyingMs = 0
  if (!mark.isRestored) {
    const startedAt = performance.now()
    for (const table of tables) await copy(table, source, target, progress)
    copyingMs = performance.now() - startedAt
    onProgress('restoring', 0, 0)
    await target.restore()
  }
  const compared = new RowCount((done) => onProgress('comparing', done, 2 * rows))
  const contents: Content[] = []
  for (const table of tables) contents.push(await compare(table, source, target, compared))
  const sums = await compareSums(source, target)
  await source.markEnded(mark, now())
  await target.finish()
  return { rows, copied: progress.rows, copyingMs, tables: contents, sums }
}

/** Makes the source writable again. Whatever was recorded in a finished target since is not in it. */
export async function cancelMove(source: Source): Promise<void> {
  const mark = await source.mark()
  if (mark?.direction !== 'to') throw new WrongDatabase(`${source.place} is not being moved.`)
  await source.thaw()
}

/** Freezes the source and prepares the target, unless an earlier run has. */
async function begin(source: Source, target: Target, now: number): Promise<Mark> {
  if (source.place === target.place) throw new WrongDatabase(`${source.place} is where the database is already.`)
  const [from, to] = [await source.mark(), await target.mark()]
  if (from?.direction === 'from') {
    throw new WrongDatabase(`${source.place} is itself an unfinished copy of ${from.place}. Finish that move first.`)
  }
  if (from && from.place !== target.place) {
    throw new WrongDatabase(
      `${source.place} ${from.endedAt === null ? 'is being' : 'was'} moved to ${from.place}. To move it elsewhere, first run \`tally move --cancel\`.`,
    )
  }
  if (from && to?.move === from.move) return to
  if (to || !(await target.isUnused())) {
    const what = to ? `is an unfinished copy of ${to.place}` : 'is in use'
    throw new WrongDatabase(`${target.place} ${what}. Move to a new, empty database.`)
  }
  const id = from?.move ?? crypto.randomUUID()
  const unfinished = { move: id, endedAt: null, isRestored: false }
  if (!from) await source.freeze({ ...unfinished, direction: 'to', place: target.place }, now)
  const mark: Mark = { ...unfinished, direction: 'from', place: source.place }
  await target.prepare(mark, now)
  return mark
}

/** Copies the rows that the target does not have. */
async function copy(table: MovedTable, source: Source, target: Target, progress: RowCount): Promise<void> {
  if (table.isNumbered) {
    let last = await target.lastId(table)
    for (let next = await source.idAfter(table, last); next !== null; next = await source.idAfter(table, last)) {
      last = next + PORTION
      await target.write(table, progress.count(source.read(table, { from: next, to: last })))
    }
    return
  }
  const [all, there] = [await source.count(table), await target.count(table)]
  if (all === there) return
  // A table without numbers is written in one transaction, so these are not its rows.
  if (there > 0) await target.clear(table)
  await target.write(table, progress.count(source.read(table)))
}

async function compare(table: MovedTable, source: Source, target: Target, progress: RowCount): Promise<Content> {
  const [one, other] = await Promise.all([source, target].map((side) => contentOf(table, side, progress)))
  if (one!.sha256 !== other!.sha256) {
    throw new WrongDatabase(
      `The table ${table.name} differs: ${source.place} has ${counted(one!.rows, 'row')}, ${target.place} ${counted(other!.rows, 'row')} (SHA-256 ${one!.sha256.slice(0, 12)} and ${other!.sha256.slice(0, 12)}). Nothing was changed in the old database. Run \`tally move --cancel\` to use it again.`,
    )
  }
  return one!
}

async function contentOf(table: MovedTable, side: Source | Target, progress: RowCount): Promise<Content> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const lines of progress.count(side.read(table))) {
    hash.update(textOf(lines))
    rows += lines.length
  }
  return { name: table.name, rows, sha256: hash.digest('hex') }
}

async function compareSums(source: Source, target: Target): Promise<Sums> {
  const [one, other] = await Promise.all([source.sums(), target.sums()])
  for (const name of Object.keys(one) as (keyof Sums)[]) {
    if (one[name] !== other[name]) throw new WrongDatabase(`The sums differ: ${name} ${one[name]} and ${other[name]}.`)
  }
  return one
}

/** Counts the rows that pass through. */
class RowCount {
  rows = 0

  constructor(readonly onCount: (rows: number) => void) {}

  async *count(read: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    for await (const lines of read) {
      this.rows += lines.length
      this.onCount(this.rows)
      yield lines
    }
  }
}
