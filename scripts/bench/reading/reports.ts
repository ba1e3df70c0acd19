/** Reports from sums, and from entries where there are none. */
import { printProgress } from '../clean-up.ts'
import {
  COMPLETENESS,
  ONE_BY_ONE,
  PAIRS,
  REPORTS,
  YEAR_BY_DAY_AND_MODEL,
  YEAR_BY_MONTH_AND_LABEL,
  YEAR_BY_MONTH_AND_PROJECT,
} from '../queries.ts'
import { cellsOf, type Line, type Measured, printTable, worstLine } from './results.ts'
import type { Subject } from './subject.ts'

const GOALS = [
  { figure: 'year by month and project', path: YEAR_BY_MONTH_AND_PROJECT, limitMs: 60 },
  { figure: 'year by day and model', path: YEAR_BY_DAY_AND_MODEL, limitMs: 60 },
  { figure: 'year by month and a label of many entries', path: YEAR_BY_MONTH_AND_LABEL, limitMs: 150 },
]

export async function measureReports(subject: Subject): Promise<Line[]> {
  printProgress('a month by two dimensions')
  const pairs: Measured[] = []
  for (const [name, path] of Object.entries(PAIRS)) pairs.push(await subject.measure(name, path))
  const lines = [worstLine('month by any two dimensions', pairs, 25)]
  for (const { figure, path, limitMs } of GOALS) {
    printProgress(figure)
    lines.push(worstLine(figure, [await subject.measure(figure, path)], limitMs))
  }
  printTable([['a month by', 'p50 ms', 'p95 ms'], ...pairs.map((pair) => [pair.name, ...cellsOf(pair)])])
  await printTypical(subject)
  return lines
}

/** Typical reports, and the same from entries one by one: what a filter without sums costs. */
async function printTypical(subject: Subject): Promise<void> {
  const rows = [['report', 'sums: p50 ms', 'p95 ms', 'entries: p50 ms', 'p95 ms']]
  for (const [name, path] of Object.entries({ ...REPORTS, ...COMPLETENESS })) {
    printProgress(name)
    const kept = await subject.measure(name, path)
    const oneByOne = name in COMPLETENESS ? undefined : await subject.measure(name, path + ONE_BY_ONE)
    rows.push([name, ...cellsOf(kept), ...cellsOf(oneByOne)])
  }
  printTable(rows)
}
