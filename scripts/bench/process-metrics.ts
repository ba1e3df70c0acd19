/** Metrics of a running process from the operating system. Linux only. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

function status(pid: number, name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0)
}

/** Current memory, in MB. */
export function residentMegabytes(pid: number): number {
  return (status(pid, 'VmRSS') * 1024) / 1e6
}

/** Peak memory, in MB. */
export function peakMegabytes(pid: number): number {
  return (status(pid, 'VmHWM') * 1024) / 1e6
}

/** Linux counts processor time in hundredths of a second, whatever the machine. */
const TICKS_PER_SECOND = 100

/** Seconds of processor time since the process started, all threads. */
export function processorSeconds(pid: number): number {
  // The name in parentheses may contain spaces; utime and stime are the 12th and 13th field after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Bytes written to disk since the process started: to the log, and again from the log to the database. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
}

/** The process that a wrapper such as strace runs; without a wrapper, the process itself. */
export function wrappedProcess(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? pid : Number(children.split(' ')[0])
}

/**
 * The number of transactions committed to a SQLite database in WAL mode: the counter `iChange` in the header of its
 * shared-memory file (https://www.sqlite.org/walformat.html#the_wal_index_file_format). Costs the server nothing.
 */
export function commits(databasePath: string): number {
  const file = openSync(`${databasePath}-shm`, 'r')
  try {
    const header = Buffer.alloc(12)
    readSync(file, header, 0, 12, 0)
    return header.readUInt32LE(8)
  } finally {
    closeSync(file)
  }
}
