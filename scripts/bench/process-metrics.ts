/** Metrics of a running process from the operating system. Linux only. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'

function status(pid: number, name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0)
}

/** Current memory, in MB. */
export function residentMegabytes(pid: number): number {
  return (status(pid, 'VmRSS') * 1024) / 1e6
}

/**
 * Current memory of a process and its children, in MB. The children's files in memory are left out: they are those of
 * their parent.
 */
export function treeMegabytes(pid: number): number {
  const own = (child: number) => ((status(child, 'RssAnon') + status(child, 'RssShmem')) * 1024) / 1e6
  return unlessEnded(() =>
    children(pid).reduce((sum, child) => sum + unlessEnded(() => own(child)), residentMegabytes(pid)),
  )
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
  return children(pid).reduce(
    (sum, child) => sum + unlessEnded(() => processorSeconds(child)),
    processorSeconds(pid) + ended,
  )
}

/** 0 for a process that has just ended: its processor time is then part of its parent's. */
function unlessEnded(read: () => number): number {
  try {
    return read()
  } catch {
    return 0
  }
}

/** Nanoseconds of processor time of each thread of a process and its children, by its id. */
export function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>()
  for (const one of [pid, ...children(pid)]) {
    try {
      for (const thread of readdirSync(`/proc/${one}/task`)) {
        times.set(thread, Number(readFileSync(`/proc/${one}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
      }
    } catch {
      // It has just ended, and uses no time any more.
    }
  }
  return times
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

/** Each is listed with the thread that started it. */
function children(pid: number): number[] {
  const listed = (thread: string) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      return listed(thread).split(' ').filter(Boolean).map(Number)
    } catch {
      return []
    }
  })
}

/** Bytes written to disk since the process started: to the log, and again from the log to the database. */
export function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
}

/** The process that a wrapper such as strace runs; without a wrapper, the process itself. */
export function wrappedProcess(pid: number): number {
  const isWrapper = programOf(pid) === 'strace'
  return (isWrapper && children(pid)[0]) || pid
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
