/**
 * Figures of a report on usage that cost more than its others, and are only calculated if they are asked for: what was
 * billed, how long sessions took and agents worked, and how many people and sessions there were.
 */
import type { Reader } from '../../database/database.ts'
import { decimalNumber, NANO_DIGITS } from '../../lib/money.ts'
import { countSessions, type Grouping, type SummedColumns, sumColumns, valueAt } from '../rollup/service.ts'
import { counted } from './counted-entries.ts'
import { groupingOf, type SumsQuery } from './sums.ts'

export const EXTRA_FIGURES = ['billed', 'people', 'sessions', 'duration', 'active_seconds'] as const
export type ExtraFigure = (typeof EXTRA_FIGURES)[number]

/** What is returned for each of them. A sum of what is known says how much is not. */
export const MEMBERS = {
  billed: ['billed'],
  people: ['people'],
  sessions: ['sessions'],
  duration: ['duration'],
  active_seconds: ['active_seconds', 'untimed_entries'],
} as const satisfies Record<ExtraFigure, readonly string[]>
type Member = (typeof MEMBERS)[ExtraFigure][number]

/** A member in a group, by {@link rowKey}. */
type Values = Map<string, number | null>

export interface ExtraValues {
  member: Member
  values: Values
}

/** Of groups without any: nothing of them is billed. Active time is unknown without entries. */
const noneOf = (member: Member) => (member === 'active_seconds' ? null : 0)

/** Milliseconds are decimals of seconds. */
const MILLI_DIGITS = 3

interface ExtraQuery extends Pick<SumsQuery, 'viewer' | 'filter' | 'dimensions' | 'basis' | 'bounds'> {
  include: readonly ExtraFigure[]
}

/** In the order in which they are asked for. */
export async function readExtras(reader: Reader, { include, ...query }: ExtraQuery): Promise<ExtraValues[]> {
  const extras: ExtraValues[] = []
  // One after the other: they read the same connection.
  for (const figure of include) {
    const values = await READ[figure](reader, query)
    extras.push(...MEMBERS[figure].map((member, at) => ({ member, values: values[at]! })))
  }
  return extras
}

/** In the order of {@link MEMBERS}. */
type Read = (reader: Reader, query: Omit<ExtraQuery, 'include'>) => Promise<Values[]>

const READ: Record<ExtraFigure, Read> = {
  billed: async (reader, query) => {
    const { filter } = query
    // A filter by statuses without this one selects nothing that is billed.
    if (filter.status && !filter.status.includes('billed')) return [new Map()]
    const billed = { ...query, filter: { ...filter, status: ['billed' as const] } }
    return [figureValues(await sumOf(reader, billed, { figures: ['cost'] }), 0, NANO_DIGITS)]
  },
  duration: async (reader, query) => [
    figureValues(await sumOf(reader, query, { figures: ['duration'] }), 0, MILLI_DIGITS),
  ],
  active_seconds: async (reader, query) => {
    const sums = await sumOf(reader, query, { figures: ['activeMs', 'activeEntries'] })
    const untimed = (row: number) => sums.entries[row]! - Number(valueAt(sums.figures[1]!, row) ?? 0)
    return [figureValues(sums, 0, MILLI_DIGITS), valuesOf(sums, untimed)]
  },
  people: async (reader, query) => {
    const sums = await sumOf(reader, query, { and: [{ key: 'managerId' }] })
    const people = new Map<string, number>()
    for (let row = 0; row < sums.length; row += 1) {
      const key = rowKey(sums, row, query.dimensions.length)
      people.set(key, (people.get(key) ?? 0) + 1)
    }
    return [people]
  },
  sessions: async (reader, { viewer, filter, dimensions, bounds }) => {
    const groupings = dimensions.map(groupingOf)
    const counts = await countSessions(reader, { viewer, filter: counted(filter), bounds, groupings })
    return [new Map(counts.map(({ bucket, keys, sessions }) => [keyText(bucket, keys), sessions]))]
  },
}

type SumTask = Parameters<typeof sumColumns>[1]

function sumOf(
  reader: Reader,
  { viewer, filter, dimensions, basis, bounds }: Omit<ExtraQuery, 'include'>,
  { and = [], figures = [] }: { and?: Grouping[]; figures?: SumTask['figures'] },
): Promise<SummedColumns> {
  const groupings = [...dimensions.map(groupingOf), ...and]
  const task = { viewer, filter: counted(filter), basis, bounds, groupings, figures }
  return sumColumns(reader, { ...task, onlyStraddling: false })
}

/** One of the figures of each row. */
const figureValues = (sums: SummedColumns, at: number, digits: number): Values =>
  valuesOf(sums, (row) => {
    const value = valueAt(sums.figures[at]!, row)
    return value === null ? null : decimalNumber(value, digits)
  })

const valuesOf = (sums: SummedColumns, figureOf: (row: number) => number | null): Values =>
  new Map(
    Array.from({ length: sums.length }, (_, row) => [rowKey(sums, row, sums.keys.length), figureOf(row)] as const),
  )

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

/** The figures of a row. */
export function extrasBody(extras: readonly ExtraValues[], sums: SummedColumns, row: number) {
  return extrasOf(extras, rowKey(sums, row, sums.keys.length))
}

/** The figures of everything. */
export function totalExtrasBody(extras: readonly ExtraValues[]) {
  return extrasOf(extras, keyText(0, []))
}

function extrasOf(extras: readonly ExtraValues[], key: string): Record<string, number | null> {
  return Object.fromEntries(extras.map(({ member, values }) => [member, values.get(key) ?? noneOf(member)]))
}
