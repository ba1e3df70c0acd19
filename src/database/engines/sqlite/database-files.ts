/** The three files of an open SQLite database in the file system. */
import { closeSync, openSync, renameSync, type Stats, statSync, writeSync } from 'node:fs'

/** If the last check is older, for example because the process was suspended, a new one precedes any response. */
const STALE_AFTER_MS = 1_000

/** `nBackfill` in the header of the shared memory: https://www.sqlite.org/walformat.html#the_wal_index_file_format */
const COPIED_FRAMES_OFFSET = 96

const SUFFIXES = ['', '-wal', '-shm'] as const
type Suffix = (typeof SUFFIXES)[number]

/** A database file was removed, replaced or overwritten while in use. The message explains what to do. */
export class LostDatabase extends Error {
  constructor(
    readonly lost: 'moved' | 'replaced' | 'overwritten' | 'log',
    message: string,
  ) {
    super(message)
  }
}

export class DatabaseFiles {
  /** Shared with the checkpoint thread, which syncs it. */
  readonly database: number
  readonly #shared: number
  readonly #known = new Map<Suffix, Stats>()
  #checkedAt = 0

  /**
   * @param path of a database that a connection has read from, so that all three files exist. The descriptors stay open
   * until {@link close}: closing any descriptor of a file releases all locks of the process on it.
   */
  constructor(readonly path: string) {
    this.database = openSync(path, 'r+')
    this.#shared = openSync(`${path}-shm`, 'r+')
    for (const suffix of SUFFIXES) this.#known.set(suffix, statSync(path + suffix))
    this.check()
  }

  /**
   * Makes every process that has the database open copy the whole log into the file again, and sync it, before the log
   * may be overwritten. After a failed sync the system may have dropped any page copied since the last one, and SQLite
   * treats the pages of unfinished checkpoints as copied.
   */
  distrust(): void {
    writeSync(this.#shared, Buffer.alloc(4), 0, 4, COPIED_FRAMES_OFFSET)
  }

  /** Throws {@link LostDatabase} if the paths no longer lead to the open files. */
  check(): void {
    const database = this.#find('')
    if (!database) throw this.lost('moved')
    if (!this.#is('', database)) throw this.lost('replaced')
    for (const suffix of ['-wal', '-shm'] as const) {
      const found = this.#find(suffix)
      if (!found || !this.#is(suffix, found)) throw this.lost('log', suffix)
    }
    this.#checkedAt = Date.now()
  }

  checkIfStale(): void {
    // Wall-clock time, because the monotonic clock may stop while the machine is suspended.
    if (Math.abs(Date.now() - this.#checkedAt) > STALE_AFTER_MS) this.check()
  }

  /**
   * Returns the loss of the files if it explains the error of another operation, such as opening a connection;
   * otherwise the error itself.
   */
  reasonFor(error: unknown): unknown {
    if (error instanceof LostDatabase) return error
    try {
      this.check()
      return error
    } catch (lost) {
      return lost
    }
  }

  /** Moves the log away from a database that it does not belong to and would corrupt. */
  setLogAside(): void {
    const log = this.#find('-wal')
    if (log && this.#is('-wal', log)) renameSync(`${this.path}-wal`, `${this.path}-wal.orphaned-${this.#checkedAt}`)
  }

  close(): void {
    closeSync(this.database)
    closeSync(this.#shared)
  }

  #find(suffix: Suffix): Stats | undefined {
    return statSync(this.path + suffix, { throwIfNoEntry: false })
  }

  #is(suffix: Suffix, { dev, ino }: Stats): boolean {
    const known = this.#known.get(suffix)!
    return known.dev === dev && known.ino === ino
  }

  lost(lost: LostDatabase['lost'], suffix: Suffix = ''): LostDatabase {
    const restore = 'To restore a backup, stop Tally first, then run `tally restore`.'
    const messages = {
      moved: `${this.path} was moved or removed while Tally was using it. Move it back next to ${this.path}-wal and start Tally again; if it was deleted, remove ${this.path}-wal and restore a backup with \`tally restore\`.`,
      replaced: `${this.path} was replaced by another file while Tally was using it. Everything Tally wrote is in the original file. ${restore}`,
      overwritten: `${this.path} was overwritten while Tally was using it, and its contents cannot be trusted. ${restore}`,
      log: `${this.path}${suffix} was moved, removed or replaced while Tally was using it. Tally copied its contents into ${this.path}. Restart Tally, and do not touch the files next to the database.`,
    }
    return new LostDatabase(lost, messages[lost])
  }
}
