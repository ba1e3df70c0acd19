/** Sums of unattributed entries, from their segments of days and months, and from the table of entries where these have changed. */
import { visibleKeys } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import { firstIndex } from '../../lib/binary-search.ts'
import { collectUnattributed } from './build.ts'
import { figuresOfEntries } from './figures.ts'
import { Groups, NO_KEY } from './groups.ts'
import { ALL_TIMES, type Range } from './plan.ts'
import { bestPlan } from './scan.ts'
import {
  exactAt,
  type Figure,
  formatWith,
  type Key,
  MEASURES_OF,
  type Measure,
  type Segment,
  segmentOf,
  UNATTRIBUTED_FORMAT,
  UNATTRIBUTED_GRAIN,
} from './segment.ts'
import { testedColumns } from './selection.ts'
import type { UnattributedQuery } from './store/entries.ts'
import { readSegments } from './store/periods.ts'
import { resolveSelection } from './store/selection.ts'

const GROUPED = ['managerId', 'harnessId', 'agentId', 'labelSetId'] as const satisfies Key[]
const TOKENS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const satisfies Figure[]
const FIGURES = ['entries', 'unpricedEntries', 'cost', ...TOKENS] as const satisfies Figure[]
const READ: (Key | Measure)[] = [
  ...GROUPED,
  'modelId',
  'id',
  'startedAt',
  ...FIGURES.flatMap((name) => MEASURES_OF[name]),
]

/** Entries of one person, harness, agent and set of labels. */
export interface UnattributedSum {
  managerId: number
  harnessId: number
  agentId: number
  labelSetId: number | null
  /** The key of their model; null if they used several. */
  modelId: number | null
  entries: number
  unpricedEntries: number
  tokens: Record<(typeof TOKENS)[number], bigint>
  costNanos: bigint | null
  firstAt: number
  lastAt: number
  /** Of all of them. */
  ids: number[]
}

/** In the order of their keys. */
export async function sumUnattributed(reader: Reader, query: UnattributedQuery): Promise<UnattributedSum[]> {
  const groups = new Groups(GROUPED.length, FIGURES.length)
  const more: Pick<UnattributedSum, 'modelId' | 'firstAt' | 'lastAt' | 'ids'>[] = []
  for await (const segment of readUnattributed(reader, query)) {
    const figures = figuresOfEntries(segment, FIGURES)
    const { length } = segment
    const groupOf = groups.add({ length, keys: GROUPED.map((key) => segment.keys(key)), figures })
    const [ids, starts] = [segment.integers('id').values, segment.integers('startedAt').values]
    const models = segment.keys('modelId')
    for (let row = 0; row < length; row += 1) {
      const [modelId, at] = [models[row]!, starts[row]!]
      const group = groupOf[row]!
      more[group] ??= { modelId, firstAt: at, lastAt: at, ids: [] }
      const sum = more[group]
      if (sum.modelId !== modelId) sum.modelId = null
      if (at < sum.firstAt) sum.firstAt = at
      if (at > sum.lastAt) sum.lastAt = at
      sum.ids.push(ids[row]!)
    }
  }
  const { length, keys, figures } = groups.rows()
  const numbers = Array.from({ length }, (_, group) => group)
  numbers.sort((one, other) => keys.reduce((order, of) => order || of[one]! - of[other]!, 0))
  return numbers.map((group) => {
    const [managerId, harnessId, agentId, labelSetId] = keys.map((of) => of[group]!) as [number, number, number, number]
    const [entries, unpricedEntries, costNanos, ...tokens] = figures.map((figure) => exactAt(figure, group))
    return {
      ...{ managerId, harnessId, agentId },
      labelSetId: labelSetId === NO_KEY ? null : labelSetId,
      entries: Number(entries),
      unpricedEntries: Number(unpricedEntries),
      costNanos: costNanos!,
      tokens: Object.fromEntries(TOKENS.map((name, at) => [name, tokens[at]])) as UnattributedSum['tokens'],
      ...more[group]!,
    }
  })
}

/** Segments of the entries that match and that the viewer sees. */
async function* readUnattributed(reader: Reader, query: UnattributedQuery): AsyncGenerator<Segment> {
  const { viewer, filter } = query
  const within = { from: filter.starting_at ?? ALL_TIMES.from, to: filter.ending_at ?? ALL_TIMES.to }
  const seen = await visibleKeys(reader, viewer)
  const tested = testedColumns(filter, seen)
  if (!tested) return yield* fromTable(reader, within, query)
  const names = [...new Set([...READ, ...tested.keys, ...tested.measures])]
  const format = Math.max(UNATTRIBUTED_FORMAT, formatWith(names))
  const { plan } = await bestPlan(reader, [within.from, within.to], within, { withMonths: true, format })
  const selection = await resolveSelection(reader, seen, filter)
  const periods = [...plan.periods, ...plan.cut]
  for await (const { segment } of readSegments(reader, UNATTRIBUTED_GRAIN, periods, names)) {
    const starts = segment.integers('startedAt').values
    const [from, to] = [within.from, within.to].map((moment) =>
      firstIndex(starts.length, (at) => starts[at]! >= moment),
    )
    const chosen = segment.of(selection.rowsOf(segment, from, to))
    if (chosen.length > 0) yield chosen
  }
  for (const range of plan.raw) yield* fromTable(reader, range, query)
}

async function* fromTable(reader: Reader, range: Range, query: UnattributedQuery): AsyncGenerator<Segment> {
  const segment = segmentOf(await collectUnattributed(reader, range, query))
  if (segment.length > 0) yield segment
}
