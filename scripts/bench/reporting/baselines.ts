/** What reporting is compared with: the same machine at simpler work. */
import { Database as Connection } from 'bun:sqlite'
import { join } from 'node:path'
import { freePort } from '../../../test/support/binary.ts'
import { compile } from '../../build.ts'
import type { Load } from '../load.ts'
import { processorSeconds } from '../process-metrics.ts'
import { checkAnswers, generate, type Throughput, WARM_UP_SECONDS } from './throughput.ts'

/** Rows per second that the disk can commit one by one: the throughput of reporting without group commits. */
export function oneCommitPerRow(folder: string): number {
  const connection = new Connection(join(folder, 'baseline.db'), { create: true })
  connection.run('PRAGMA journal_mode = WAL')
  connection.run('PRAGMA synchronous = FULL')
  connection.run(
    'CREATE TABLE rows (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, at INTEGER NOT NULL, rest BLOB NOT NULL)',
  )
  connection.run('CREATE INDEX rows_by_time ON rows (at)')
  const insert = connection.prepare('INSERT INTO rows (key, at, rest) VALUES (?, ?, ?)')
  const rest = Buffer.alloc(250, 'x')
  const startedAt = performance.now()
  let rows = 0
  while (performance.now() - startedAt < 2_000) {
    insert.run(Buffer.from(Bun.randomUUIDv7('buffer')), Date.now(), rest)
    rows += 1
  }
  const perSecond = (rows * 1000) / (performance.now() - startedAt)
  connection.close()
  return perSecond
}

/** Compiles the server that only validates, like Tally's executable, and returns its path. */
export function compileValidateOnly(folder: string): Promise<string> {
  return compile({ program: 'scripts/bench/validate-only.ts', outfile: join(folder, 'validate-only') })
}

/** The same load on that server. */
export async function validateOnly(program: string, load: Omit<Load, 'ports' | 'path'>): Promise<Throughput> {
  const port = freePort()
  const child = Bun.spawn([program, String(port)], { stdout: 'ignore', stderr: 'inherit' })
  try {
    while (!(await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined))?.ok) await Bun.sleep(10)
    const full = { ...load, ports: [port], path: '/validate' }
    await generate({ ...full, seconds: WARM_UP_SECONDS })
    const before = processorSeconds(child.pid)
    const result = await generate(full)
    const processor = processorSeconds(child.pid) - before
    checkAnswers(result, ['200'])
    const { firstAnswer: _, ...throughput } = result
    return {
      ...throughput,
      serverProcessorShare: processor / result.seconds,
      processorMicros: (processor * 1e6) / result.entries,
      databaseProcessorMicros: null,
      commitsPerSecond: null,
      writtenBytesPerEntry: null,
    }
  } finally {
    child.kill()
    await child.exited
  }
}
