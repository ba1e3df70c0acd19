import type { Database as Connection } from 'bun:sqlite'
import { fstatSync, readSync } from 'node:fs'

/** Big-endian numbers in the first 100 bytes: https://www.sqlite.org/fileformat2.html#the_database_header */
const CHANGE_COUNTER_OFFSET = 24
const SCHEMA_COOKIE_OFFSET = 40
const USER_VERSION_OFFSET = 60

interface Seen {
  bytes: number
  changes: number
  schema: number
  /** How often the file was compacted, see {@link countCompaction}. */
  compactions: number
}

/**
 * Called before compacting the file or changing its triggers, so that no process that has it open takes it for another
 * one.
 */
export function countCompaction(connection: Connection): void {
  connection
    .transaction(() => {
      const { user_version } = connection.query<{ user_version: number | bigint }, []>('PRAGMA user_version').get()!
      connection.run(`PRAGMA user_version = ${Number(user_version) + 1}`)
    })
    .immediate()
}

/**
 * Detects that another file was copied over a database in use, which keeps its inode. A file in use never shrinks, its
 * change counter never decreases, and its schema cookie changes only with a migration; a backup always has another one.
 * A compaction, once announced, may shrink it and change the cookie, each once. Must be called right before each
 * checkpoint, which may restore the header while other pages are wrong.
 */
export class FileHeader {
  readonly #bytes = Buffer.alloc(USER_VERSION_OFFSET + 4)
  #seen: Seen
  #version: number
  /** What a compaction has yet to do: pages are copied before the file is truncated. */
  readonly #compacting = { shrinks: false, changesSchema: false }

  /**
   * @param file descriptor of the database file
   * @param schemaVersion the version of the applied migrations
   */
  constructor(
    readonly file: number,
    readonly schemaVersion: () => number,
  ) {
    this.#seen = this.#read()
    this.#version = schemaVersion()
  }

  isOverwritten(): boolean {
    const found = this.#read()
    const seen = this.#seen
    this.#seen = found
    if (found.compactions > seen.compactions) Object.assign(this.#compacting, { shrinks: true, changesSchema: true })
    if (found.changes < seen.changes) return true
    if (found.bytes < seen.bytes && !this.#isCompacted('shrinks')) return true
    return found.schema !== seen.schema && !this.#isCompacted('changesSchema') && !this.#isMigrated()
  }

  #isCompacted(step: 'shrinks' | 'changesSchema'): boolean {
    const isExpected = this.#compacting[step]
    this.#compacting[step] = false
    return isExpected
  }

  #isMigrated(): boolean {
    const version = this.schemaVersion()
    const isNewer = version > this.#version
    this.#version = version
    return isNewer
  }

  #read(): Seen {
    this.#bytes.fill(0)
    readSync(this.file, this.#bytes, 0, this.#bytes.length, 0)
    return {
      bytes: fstatSync(this.file).size,
      changes: this.#bytes.readUInt32BE(CHANGE_COUNTER_OFFSET),
      schema: this.#bytes.readUInt32BE(SCHEMA_COOKIE_OFFSET),
      compactions: this.#bytes.readUInt32BE(USER_VERSION_OFFSET),
    }
  }
}
