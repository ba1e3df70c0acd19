/** Puts a load on servers and measures what it takes them. */
import { join } from 'node:path'
import type { Load, LoadResult } from '../load.ts'
import { commits } from '../process-metrics.ts'
import type { BenchmarkDatabase, Engine } from './databases.ts'

export const BATCH = 100
/** Enough to keep the server busy while a client prepares its next batch. */
export const BATCH_CONNECTIONS = 4

/** Warm-up time, during which Bun compiles the hot paths. */
export const WARM_UP_SECONDS = 2

/** Reported entries are spread over a day. */
const REPORTED_DAYS = 1

export interface Throughput extends Omit<LoadResult, 'firstAnswer'> {
  /** Share of one processor that the servers used, all their threads. */
  serverProcessorShare: number
  /** Microseconds of the servers' processor time per entry; depends little on other load on the machine. */
  processorMicros: number
  /** The same of PostgreSQL's server, if it is on this machine. */
  databaseProcessorMicros: number | null
  /** These two only for SQLite. */
  commitsPerSecond: number | null
  writtenBytesPerEntry: number | null
}

/** Servers that a load is put on: those of Tally, or of a program that it is compared with. */
export interface LoadedServers {
  readonly ports: number[]
  /** Its file is that of a SQLite database in WAL mode. */
  readonly database: Pick<BenchmarkDatabase, 'file'>
  /** Sums over all servers. */
  processorSeconds(): number
  writtenBytes(): number
}

/** A load without its servers. */
export type LoadShape = Omit<Load, 'ports' | 'token'>

export const single: Omit<LoadShape, 'connections' | 'seconds'> = {
  path: '/api/v1/token-entries',
  batch: 1,
  days: REPORTED_DAYS,
}

export const batch: Omit<LoadShape, 'seconds'> = {
  path: '/api/v1/token-entries/batch',
  batch: BATCH,
  days: REPORTED_DAYS,
  connections: BATCH_CONNECTIONS,
}

/** A load that ends after its time, or earlier when it is stopped. */
export interface RunningLoad {
  result: Promise<LoadResult>
  stop(): void
}

export function startLoad(load: Load): RunningLoad {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, '../load.ts'), JSON.stringify(load)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  // A signal may end this process alone.
  const kill = () => child.kill('SIGKILL')
  process.on('exit', kill)
  async function result(): Promise<LoadResult> {
    const [output, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
    process.off('exit', kill)
    if (code !== 0) throw new Error('The load generator failed.')
    return JSON.parse(output)
  }
  return { result: result(), stop: () => child.kill('SIGTERM') }
}

export const generate = (load: Load): Promise<LoadResult> => startLoad(load).result

/** Throws if a response is not one of those that should be measured. */
export function checkAnswers({ statuses, firstAnswer }: LoadResult, expected: string[]): void {
  const wrong = Object.keys(statuses).filter((status) => !expected.includes(status))
  if (wrong.length > 0 || firstAnswer.includes('"rejected"')) {
    throw new Error(
      `Unexpected responses: ${JSON.stringify(statuses)}. The first response was ${firstAnswer.slice(0, 500)}`,
    )
  }
}

/**
 * The longest pause of work that follows reports: sums of a day wait until it has not changed for 3 s, and the next ones
 * for as long again.
 */
const IDLE_MS = 6_000

/** What jobs use that look for work each second. */
const IDLE_SHARE = 0.05

const IDLE_LIMIT_MS = 120_000

/** Waits until servers have done everything that follows from reports, such as sums, budgets and alerts. */
export async function untilIdle(servers: LoadedServers): Promise<void> {
  const end = performance.now() + IDLE_LIMIT_MS
  for (let before = Number.NEGATIVE_INFINITY; performance.now() < end; ) {
    const now = servers.processorSeconds()
    if (now - before < (IDLE_SHARE * IDLE_MS) / 1000) return
    before = now
    await Bun.sleep(IDLE_MS)
  }
  throw new Error('The server did not become idle.')
}

interface MeasureOptions {
  /** Whether the processor time includes work after the last response. */
  includesLaterWork?: boolean
  /** The status of the response to a new report; of a batch, it is always 200. */
  created?: string
}

/** Measures a load of reports on servers. */
export async function measure(
  servers: LoadedServers,
  engine: Pick<Engine, 'processorSeconds'>,
  token: string,
  shape: LoadShape,
  { includesLaterWork = false, created = '201' }: MeasureOptions = {},
): Promise<Throughput> {
  const { file } = servers.database
  const read = () => ({
    processor: servers.processorSeconds(),
    database: engine.processorSeconds(),
    written: servers.writtenBytes(),
    commits: file === undefined ? 0 : commits(file),
  })
  const before = read()
  const result = await generate({ ...shape, ports: servers.ports, token })
  if (includesLaterWork) await untilIdle(servers)
  const after = read()
  // A session's first report is answered with 201, later ones with 200.
  checkAnswers(result, shape.batch > 1 ? ['200'] : (shape.repeat ?? 1) > 1 ? ['200', created] : [created])
  const { firstAnswer: _, ...throughput } = result
  const processor = after.processor - before.processor
  return {
    ...throughput,
    serverProcessorShare: processor / result.seconds,
    processorMicros: (processor * 1e6) / result.entries,
    databaseProcessorMicros:
      before.database === undefined ? null : ((after.database! - before.database) * 1e6) / result.entries,
    commitsPerSecond: file === undefined ? null : (after.commits - before.commits) / result.seconds,
    writtenBytesPerEntry: file === undefined ? null : (after.written - before.written) / result.entries,
  }
}
