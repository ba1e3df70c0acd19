/** The first 100 bytes of a database file: https://www.sqlite.org/fileformat2.html#the_database_header */
import type { Database as Connection } from 'bun:sqlite'
import { closeSync, openSync, readSync } from 'node:fs'

export const HEADER_BYTES = 100

const MAGIC = 'SQLite format 3\0'
const PAGE_SIZE_OFFSET = 16
const CHANGE_COUNTER_OFFSET = 24
const PAGES_OFFSET = 28
const SCHEMA_COOKIE_OFFSET = 40
/** `user_version`, which SQLite leaves to the program. */
const COMMIT_NUMBER_OFFSET = 60
const APPLICATION_ID_OFFSET = 68

/** 'TALY' in the file's header identifies Tally's databases. */
export const APPLICATION_ID = 0x54414c59

/** Two days of numbered commits of a server, during which a reader may keep them from being copied into the file. */
const PLAUSIBLE_COMMITS = 4_194_304

/** Shorter if the file is. */
export function headerOf(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    return headerIn(file)
  } finally {
    closeSync(file)
  }
}

function headerIn(file: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0))
}

/** The size of the whole database; undefined if the bytes are not the header of one. */
export function databaseBytes(header: Buffer): number | undefined {
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  // 65,536 does not fit into two bytes, and is written as 1.
  const stored = header.readUInt16BE(PAGE_SIZE_OFFSET)
  return (stored === 1 ? 65_536 : stored) * header.readUInt32BE(PAGES_OFFSET)
}

export const isOwn = (header: Buffer): boolean => header.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID

/** Whether something was ever created in the database. */
export const hasSchema = (header: Buffer): boolean => header.readUInt32BE(SCHEMA_COOKIE_OFFSET) > 0

export const commitNumberOf = (header: Buffer): number => header.readInt32BE(COMMIT_NUMBER_OFFSET)

/**
 * Numbers the commit of the caller's transaction, or the next one. The number tells which log a file belongs to, and
 * whether it is still the same file.
 */
export function numberCommit(connection: Connection): void {
  const { user_version } = connection.query<{ user_version: number | bigint }, []>('PRAGMA user_version').get()!
  connection.run(`PRAGMA user_version = ${(Number(user_version) + 1) | 0}`)
}

/** Lets the numbers of a new file, or of a copy, begin where those of no other one are. */
export function numberFromAnywhere(connection: Connection): void {
  const [number] = crypto.getRandomValues(new Int32Array(1))
  connection.run(`PRAGMA user_version = ${number}`)
}

/**
 * Detects that another file was copied over a database in use, which keeps its inode: the number of the last commit only
 * grows, a little at a time, and the change counter never decreases. Must be called right before each checkpoint, which
 * may restore the header while other pages are wrong.
 */
export class FileHeader {
  #seen: Buffer

  /** @param file descriptor of the database file */
  constructor(readonly file: number) {
    this.#seen = headerIn(file)
  }

  isOverwritten(): boolean {
    const seen = this.#seen
    const found = headerIn(this.file)
    if (found.length < HEADER_BYTES) return true
    this.#seen = found
    if (found.readUInt32BE(CHANGE_COUNTER_OFFSET) < seen.readUInt32BE(CHANGE_COUNTER_OFFSET)) return true
    return (commitNumberOf(found) - commitNumberOf(seen)) >>> 0 > PLAUSIBLE_COMMITS
  }
}
