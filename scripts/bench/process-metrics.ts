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

/** The fields of a process's `stat` that follow its name, which is in parentheses and may contain spaces. */
function statFields(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
}

/** Seconds of processor time since the process started, all threads: its utime and stime. */
export function processorSeconds(pid: number): number {
  const fields = statFields(pid)
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Processor time of the main thread, in milliseconds; its id is that of the process. */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}

/** Seconds of processor time of a process and its children, running or ended. */
export function familyProcessorSeconds(pid: number): number {
  const fields = statFields(pid)
  const ended = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
  return children(pid).reduce((sum, child) => sum + childProcessorSeconds(child), processorSeconds(pid) + ended)
}

/** 0 if it has just ended: its time is then part of its parent's. */
function childProcessorSeconds(pid: number): number {
  try {
    return processorSeconds(pid)
  } catch {
    return 0
  }
}

export function parentOf(pid: number): number {
  return Number(statFields(pid)[1])
}

/** The name of its program; undefined if no such process runs on this machine. */
export function programOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined
  }
}

function children(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Bytes written to disk since the process started: to the log, and again from the log to the database. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
}

/** The process that a wrapper such as strace runs; without a wrapper, the process itself. */
export function wrappedProcess(pid: number): number {
  return children(pid)[0] ?? pid
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
