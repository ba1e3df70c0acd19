/** The size of answers, compressed and not, and answers to questions whose answer has not changed. */
import { printProgress } from '../clean-up.ts'
import { YEAR_BY_DAY_AND_MODEL, YEAR_BY_MONTH_AND_LABEL, YEAR_BY_MONTH_AND_PROJECT } from '../queries.ts'
import { kilobytes, type Line, NOT_AVAILABLE, printTable, timesLine } from './results.ts'
import type { Subject } from './subject.ts'

const ENCODINGS = ['gzip', 'br', 'zstd'] as const

const ANSWERS: Record<string, string> = {
  'year by month and project': YEAR_BY_MONTH_AND_PROJECT,
  'year by day and model': YEAR_BY_DAY_AND_MODEL,
  'year by month and label': YEAR_BY_MONTH_AND_LABEL,
  '1,000 entries': '/api/v1/token-entries?limit=1000',
  'OpenAPI document': '/api/v1/openapi.json',
}

/** The compressed size that a page of the web application may load with one request. */
const SIZE_GOAL_BYTES = 100_000

/** It costs only the look-up of the revision. */
const UNCHANGED_GOAL_MS = 10

export async function measureAnswers(subject: Subject): Promise<Line[]> {
  printProgress('sizes of answers')
  const rows: string[][] = [['answer', 'plain', ...ENCODINGS]]
  let largest: { name: string; bytes: number } | undefined
  for (const [name, path] of Object.entries(ANSWERS)) {
    const plain = await sizeOf(subject, path, 'identity')
    const sizes = []
    for (const encoding of ENCODINGS) sizes.push(await sizeOf(subject, path, encoding))
    rows.push([name, ...[plain, ...sizes].map((size) => (size === undefined ? NOT_AVAILABLE : kilobytes(size)))])
    const compressed = sizes.filter((size) => size !== undefined)
    const bytes = compressed.length > 0 ? Math.min(...compressed) : plain
    if (name.startsWith('year') && bytes !== undefined && bytes > (largest?.bytes ?? 0)) largest = { name, bytes }
  }
  printTable(rows)
  const size: Line = { figure: 'largest of these reports, compressed', goal: `≤ ${kilobytes(SIZE_GOAL_BYTES)}` }
  return [
    largest
      ? { ...size, measured: `${largest.name}: ${kilobytes(largest.bytes)}`, isMet: largest.bytes <= SIZE_GOAL_BYTES }
      : { ...size, measured: NOT_AVAILABLE },
    await measureUnchanged(subject, 'unchanged report, 304', YEAR_BY_MONTH_AND_PROJECT),
    await measureUnchanged(subject, 'unchanged list, 304', '/api/v1/token-entries?limit=50'),
  ]
}

/** Undefined if the server does not use the encoding. */
async function sizeOf(subject: Subject, path: string, encoding: string): Promise<number | undefined> {
  const answer = await subject.ask(path, { headers: { 'accept-encoding': encoding } })
  const { byteLength } = await answer.arrayBuffer()
  const used = answer.headers.get('content-encoding') ?? 'identity'
  return answer.ok && used === encoding ? byteLength : undefined
}

async function measureUnchanged(subject: Subject, figure: string, path: string): Promise<Line> {
  printProgress(figure)
  const answer = await subject.ask(path)
  await answer.arrayBuffer()
  const tag = answer.headers.get('etag')
  if (!answer.ok || tag === null) return timesLine(figure, undefined, UNCHANGED_GOAL_MS)
  const headers = { 'if-none-match': tag }
  const again = await subject.ask(path, { headers })
  const { byteLength } = await again.arrayBuffer()
  if (again.status !== 304)
    return {
      ...timesLine(figure, undefined, UNCHANGED_GOAL_MS, `${again.status} of ${kilobytes(byteLength)}`),
      isMet: false,
    }
  const { times } = await subject.measure(figure, path, { headers })
  return timesLine(figure, times, UNCHANGED_GOAL_MS)
}
