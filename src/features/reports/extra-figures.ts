/**
 * Figures of a report on usage that cost more than its others, and are only calculated if they are asked for: what was
 * billed, how long sessions took, and how many people and sessions there were.
 */
import type { Reader } from '../../database/database.ts'
import { decimalText, NANO_DIGITS } from '../../lib/money.ts'
import { countSessions, type Grouping, type SummedColumns, sumColumns, valueAt } from '../rollup/service.ts'
import { counted } from './counted-entries.ts'
import { groupingOf, type SumsQuery } from './sums.ts'

export const EXTRA_FIGURES = ['billed', 'people', 'sessions', 'duration'] as const
export type ExtraFigure = (typeof EXTRA_FIGURES)[number]

/** The JSON of a figure in a group, by {@link rowKey}. */
type Values = Map<string, string>

export interface ExtraValues {
  figure: ExtraFigure
  values: Values
}

/** Of groups without any: nothing of them is billed. */
const NONE = '0'

/** Milliseconds are decimals of seconds. */
const MILLI_DIGITS = 3

interface ExtraQuery extends Pick<SumsQuery, 'viewer' | 'filter' | 'dimensions' | 'bounds'> {
  include: readonly ExtraFigure[]
}

/** In the order in which they are asked for. */
export async function readExtras(reader: Reader, { include, ...query }: ExtraQuery): Promise<ExtraValues[]> {
  const extras: ExtraValues[] = []
  // One after the other: they read the same connection.
  for (const figure of include) extras.push({ figure, values: await READ[figure](reader, query) })
  return extras
}

type Read = (reader: Reader, query: Omit<ExtraQuery, 'include'>) => Promise<Values>

const READ: Record<ExtraFigure, Read> = {
  billed: async (reader, query) => {
    const { filter } = query
    // A filter by statuses without this one selects nothing that is billed.
    if (filter.status && !filter.status.includes('billed')) return new Map()
    const billed = { ...query, filter: { ...filter, status: ['billed' as const] } }
    return figureValues(await sumOf(reader, billed, { figures: ['cost'] }), NANO_DIGITS)
  },
  duration: async (reader, query) => figureValues(await sumOf(reader, query, { figures: ['duration'] }), MILLI_DIGITS),
  people: async (reader, query) => {
    const sums = await sumOf(reader, query, { and: [{ key: 'managerId' }] })
    const people = new Map<string, number>()
    for (let row = 0; row < sums.length; row += 1) {
      const key = rowKey(sums, row, query.dimensions.length)
      people.set(key, (people.get(key) ?? 0) + 1)
    }
    return new Map([...people].map(([key, count]) => [key, String(count)]))
  },
  sessions: async (reader, { viewer, filter, dimensions, bounds }) => {
    const groupings = dimensions.map(groupingOf)
    const counts = await countSessions(reader, { viewer, filter: counted(filter), bounds, groupings })
    return new Map(counts.map(({ bucket, keys, sessions }) => [keyText(bucket, keys), String(sessions)]))
  },
}

type SumTask = Parameters<typeof sumColumns>[1]

function sumOf(
  reader: Reader,
  { viewer, filter, dimensions, bounds }: Omit<ExtraQuery, 'include'>,
  { and = [], figures = [] }: { and?: Grouping[]; figures?: SumTask['figures'] },
): Promise<SummedColumns> {
  const groupings = [...dimensions.map(groupingOf), ...and]
  return sumColumns(reader, { viewer, filter: counted(filter), bounds, onlyStraddling: false, groupings, figures })
}

/** The only figure of each row. */
function figureValues(sums: SummedColumns, digits: number): Values {
  const textOf = (row: number) => {
    const value = valueAt(sums.figures[0]!, row)
    return value === null ? 'null' : decimalText(value, digits)
  }
  return new Map(
    Array.from({ length: sums.length }, (_, row) => [rowKey(sums, row, sums.keys.length), textOf(row)] as const),
  )
}

const keyText = (bucket: number, keys: readonly (number | string | null)[]): string => JSON.stringify([bucket, ...keys])

/** A bucket and the first keys of a row, as they are in every sum of the same dimensions. */
function rowKey({ buckets, keys, texts }: SummedColumns, row: number, count: number): string {
  const values = keys.slice(0, count).map((column, at) => {
    const key = column[row]!
    // Values of a label are numbered by the sum.
    return texts[at] ? (texts[at][key] ?? null) : key
  })
  return keyText(buckets[row]!, values)
}

/** The figures of a row, as further members of an object. */
export function extrasJson(extras: readonly ExtraValues[], sums: SummedColumns, row: number): string {
  if (extras.length === 0) return ''
  const key = rowKey(sums, row, sums.keys.length)
  return extras.map(({ figure, values }) => `,"${figure}":${values.get(key) ?? NONE}`).join('')
}

/** The figures of everything. */
export function totalExtrasJson(extras: readonly ExtraValues[]): string {
  return extras.map(({ figure, values }) => `,"${figure}":${values.get(keyText(0, [])) ?? NONE}`).join('')
}
