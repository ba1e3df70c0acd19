/**
 * Whether a write-ahead log was written for the database file next to it. SQLite does not ask: it applies any log whose
 * checksums are right (https://www.sqlite.org/fileformat2.html#the_write_ahead_log), and where a person has copied another
 * file over the database, the pages of the two do not belong together.
 *
 * What is in the file is either from before the log or, after a checkpoint, from one of its commits. The first page,
 * on which Tally numbers its commits, shows both. A log of an earlier version has no numbers, and is not refused.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { commitNumberOf, HEADER_BYTES, headerOf } from './file-header.ts'

const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** That of machines with another order of bytes, on which Tally does not run, ends with another digit. */
const MAGIC = 0x377f0682

export function isLogForeign(path: string): boolean {
  return withLog(path, false, (log) => {
    for (;;) {
      const begin = beginOf(log)
      if (precedesOrContains(log, headerOf(path))) return false
      // Of a database in use, the log may have begun anew in the meantime.
      if (beginOf(log).equals(begin)) return true
    }
  })
}

/** The header in the versions of the first page that a log contains. */
export const headersInLog = (path: string): Buffer[] => withLog(path, [], (log) => [...firstPagesIn(log)])

/** Whether the header of a file is from right before the log or from one of its commits. */
function precedesOrContains(log: number, header: Buffer): boolean {
  const number = commitNumberOf(header)
  let isFirst = true
  for (const version of firstPagesIn(log)) {
    // The first transaction to write the page may be one without a number of its own.
    if (isFirst && [0, 1].includes((commitNumberOf(version) - number) | 0)) return true
    if (version.equals(header)) return true
    isFirst = false
  }
  return isFirst
}

/** Up to the end of the log, which is where its checksums are wrong. */
function* firstPagesIn(log: number): Generator<Buffer> {
  const begin = beginOf(log)
  if (begin.length < LOG_HEADER_BYTES || begin.readUInt32BE(0) !== MAGIC) return
  let sums = added([0, 0], begin.subarray(0, 24))
  if (!isAt(begin, 24, sums)) return
  const salts = begin.subarray(16, 24)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + begin.readUInt32BE(8))
  for (let at = LOG_HEADER_BYTES; readSync(log, frame, 0, frame.length, at) === frame.length; at += frame.length) {
    if (!frame.subarray(8, 16).equals(salts)) return
    const page = frame.subarray(FRAME_HEADER_BYTES)
    sums = added(added(sums, frame.subarray(0, 8)), page)
    if (!isAt(frame, 16, sums)) return
    if (frame.readUInt32BE(0) === 1) yield Buffer.from(page.subarray(0, HEADER_BYTES))
  }
}

type Sums = readonly [number, number]

function added([first, second]: Sums, bytes: Buffer): Sums {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  let [one, other] = [first, second]
  for (let at = 0; at < words.length; at += 2) {
    one = (one + words[at]! + other) | 0
    other = (other + words[at + 1]! + one) | 0
  }
  return [one, other]
}

const isAt = (bytes: Buffer, at: number, [first, second]: Sums) =>
  bytes.readInt32BE(at) === first && bytes.readInt32BE(at + 4) === second

/** Shorter if the log is. */
function beginOf(log: number): Buffer {
  const begin = Buffer.alloc(LOG_HEADER_BYTES)
  return begin.subarray(0, readSync(log, begin, 0, LOG_HEADER_BYTES, 0))
}

function withLog<Result>(path: string, otherwise: Result, read: (log: number) => Result): Result {
  let log: number
  try {
    log = openSync(`${path}-wal`, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise
    throw error
  }
  try {
    return read(log)
  } finally {
    closeSync(log)
  }
}
