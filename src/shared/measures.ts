/** What a report can measure: where its figure is, how it reads, and which entries it is of. Pure. */

import { BASIS_TITLES, type CostBasis } from './cost-basis.ts'

/** Of a group or of everything, as in `GET /reports/usage`. */
export interface MeasuredFigures {
  entries: number
  tokens: Record<'total' | 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h', number>
  cost: number | null
  list_value?: number | null
  billed?: number | null
  people?: number
  sessions?: number
  duration?: number
  active_seconds?: number | null
}

type Extra = 'billed' | 'people' | 'sessions' | 'duration' | 'active_seconds'

export interface MeasureDefinition {
  title: string
  /** Null if it is unknown, such as the cost of unpriced entries. */
  of: (figures: MeasuredFigures) => number | null
  unit: 'money' | 'count' | 'hours'
  /** The total of the list of its entries that it is; undefined if that list does not show it. */
  figure?: 'cost' | 'list_value' | 'tokens' | 'entries' | 'groups'
  /** The figure that is only calculated if it is asked for. */
  include?: Extra
  /** Whether the figures of groups and periods may count the same thing twice, so that they do not add up. */
  isDistinct?: true
}

const HOUR_S = 3_600

export const MEASURES = {
  cost: { title: 'Cost', unit: 'money', figure: 'cost', of: ({ cost }) => cost },
  list_value: { title: 'List value', unit: 'money', figure: 'list_value', of: ({ list_value }) => list_value ?? null },
  billed: {
    title: 'Cost of billed entries',
    unit: 'money',
    figure: 'cost',
    of: ({ billed }) => billed ?? null,
    include: 'billed',
  },
  tokens: { title: 'Tokens', unit: 'count', figure: 'tokens', of: ({ tokens }) => tokens.total },
  input: { title: 'Input tokens', unit: 'count', of: ({ tokens }) => tokens.input },
  output: { title: 'Output tokens', unit: 'count', of: ({ tokens }) => tokens.output },
  cache_read: { title: 'Cache read tokens', unit: 'count', of: ({ tokens }) => tokens.cache_read },
  cache_write: { title: 'Cache write tokens', unit: 'count', of: ({ tokens }) => tokens.cache_write },
  cache_write_1h: { title: 'Cache write tokens (1 h)', unit: 'count', of: ({ tokens }) => tokens.cache_write_1h },
  entries: { title: 'Entries', unit: 'count', figure: 'entries', of: ({ entries }) => entries },
  sessions: {
    title: 'Sessions',
    unit: 'count',
    of: ({ sessions }) => sessions ?? null,
    include: 'sessions',
    isDistinct: true,
  },
  people: {
    title: 'People',
    unit: 'count',
    figure: 'groups',
    of: ({ people }) => people ?? null,
    include: 'people',
    isDistinct: true,
  },
  duration: {
    title: 'Duration',
    unit: 'hours',
    of: ({ duration }) => (duration === undefined ? null : duration / HOUR_S),
    include: 'duration',
  },
  active_seconds: {
    title: 'Active time',
    unit: 'hours',
    of: ({ active_seconds }) => (active_seconds == null ? null : active_seconds / HOUR_S),
    include: 'active_seconds',
  },
} as const satisfies Record<string, MeasureDefinition>

export type MeasureName = keyof typeof MEASURES
export const MEASURE_NAMES = Object.keys(MEASURES) as [MeasureName, ...MeasureName[]]

/** @param basis of `cost` */
export function measureOf(name: MeasureName, basis: CostBasis = 'cost'): MeasureDefinition {
  const measure: MeasureDefinition = MEASURES[name]
  return basis === 'cost' ? measure : { ...measure, title: measure.title.replace(/^Cost/, BASIS_TITLES[basis]) }
}
