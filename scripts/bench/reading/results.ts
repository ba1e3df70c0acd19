/** Results and the Markdown tables that show them. */

/** Milliseconds, in ascending order. */
export type Times = readonly number[]

/** A line of the table of goals. */
export interface Line {
  figure: string
  /** What it should be, in words; absent for figures without a goal. */
  goal?: string
  /** Of a query: its times, or why there are none. */
  times?: Times | undefined
  /** Any other result, or an explanation. */
  measured?: string
  /** Undefined if there is no goal, or if it could not be measured. */
  isMet?: boolean | undefined
}

export const NOT_AVAILABLE = 'not available'

export const whole = (count: number) => Math.round(count).toLocaleString('en')
export const ms = (milliseconds: number) => milliseconds.toFixed(milliseconds < 10 ? 1 : 0)
export const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`
export const megabytes = (size: number) => `${whole(size)} MB`
export const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`

/** With fewer than 100 times, the 99th percentile is the largest. */
export function percentile(times: Times, share: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * share))]!
}

/** A line for the times of a query, met if 95% of them are within the limit. */
export function timesLine(figure: string, times: Times | undefined, limitMs: number, measured = ''): Line {
  const line = { figure, goal: `p95 ≤ ${limitMs} ms` }
  if (!times) return { ...line, measured: measured || NOT_AVAILABLE }
  return { ...line, times, measured, isMet: percentile(times, 0.95) <= limitMs }
}

/** The line of the slowest of several queries, which it names, and says how many of them there are. */
export function worstLine(figure: string, queries: readonly Measured[], limitMs: number): Line {
  const refused = queries.filter(({ refused }) => refused !== undefined)
  const answered = queries
    .filter((query) => query.refused === undefined)
    .sort((one, other) => percentile(one.times, 0.95) - percentile(other.times, 0.95))
  const worst = answered.at(-1)
  if (!worst) return { figure, goal: `p95 ≤ ${limitMs} ms`, measured: NOT_AVAILABLE }
  const median = percentile(answered[Math.floor(answered.length / 2)]!.times, 0.95)
  const errors = refused.filter(({ refused }) => refused! >= 500)
  const parts = [`worst of ${answered.length}: ${worst.name}`, `p95 of the median query ${ms(median)} ms`]
  if (refused.length > 0)
    parts.push(`refused: ${refused.map(({ name, refused: status }) => `${name} (${status})`).join(', ')}`)
  const line = timesLine(figure, worst.times, limitMs, parts.join('; '))
  return { ...line, isMet: line.isMet === true && errors.length === 0 }
}

/** The times of one query. */
export interface Measured {
  name: string
  times: Times
  /** The status of the response, if it was an error. */
  refused: number | undefined
}

/** The cells of a query in a table of p50 and p95. */
export function cellsOf(measured: Measured | undefined): string[] {
  if (!measured) return ['', '']
  const { times, refused } = measured
  if (refused !== undefined && refused < 500) return [NOT_AVAILABLE, '']
  return [refused === undefined ? ms(percentile(times, 0.5)) : String(refused), ms(percentile(times, 0.95))]
}

/** Prints a table; the first row contains the headings. Columns of text are aligned to the left. */
export function printTable(rows: readonly (readonly string[])[], textColumns: readonly number[] = [0]): void {
  const [heads, ...rest] = rows as [string[], ...string[][]]
  const print = (cells: readonly string[]) => console.log(`| ${cells.join(' | ')} |`)
  console.log('')
  print(heads)
  print(heads.map((_, at) => (textColumns.includes(at) ? '---' : '---:')))
  for (const row of rest) print(row)
}

export function printLines(lines: readonly Line[]): void {
  const rows = lines.map(({ figure, goal = '', times, measured = '', isMet }) => {
    const cells = [0.5, 0.95, 0.99].map((share) => (times ? ms(percentile(times, share)) : ''))
    return [figure, goal, ...cells, measured, isMet === undefined ? '' : isMet ? 'yes' : '**no**']
  })
  printTable([['figure', 'goal', 'p50 ms', 'p95 ms', 'p99 ms', 'measured', 'met'], ...rows], [0, 1, 5, 6])
}
