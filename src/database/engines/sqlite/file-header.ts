import { fstatSync, readSync } from 'node:fs'

/** Big-endian numbers in the first 100 bytes: https://www.sqlite.org/fileformat2.html#the_database_header */
const CHANGE_COUNTER_OFFSET = 24
const SCHEMA_COOKIE_OFFSET = 40

interface Seen {
  bytes: number
  changes: number
  schema: number
}

/**
 * Detects that another file was copied over a database in use, which keeps its inode. A file in use never shrinks, its
 * change counter never decreases, and its schema cookie changes only with a migration; a backup always has another one.
 * Must be called right before each checkpoint, which may restore the header while other pages are wrong.
 */
export class FileHeader {
  readonly #bytes = Buffer.alloc(SCHEMA_COOKIE_OFFSET + 4)
  #seen: Seen
  #version: number

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
    if (found.bytes < seen.bytes || found.changes < seen.changes) return true
    return found.schema !== seen.schema && !this.#isMigrated()
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
    }
  }
}
