/** What comparisons with other programs have in common, and the table of all of them. */
import { printTable } from '../reading/results.ts'
import { type Spread, spreadOf, spreadText } from '../spread.ts'

/** One value of each round. */
export interface Rounds {
  name: string
  rounds: readonly number[]
  unit?: 'µs' | 'MB' | '/s' | 's'
}

/** What it should be, if there is a goal. */
export interface Goal extends Pick<Rounds, 'name' | 'unit'> {
  atMost?: number
  atLeast?: number
}

export interface PeerOptions {
  rounds: number
  /** Of each load. */
  seconds: number
  /** Entries of the database that is exported. */
  entries: number
  /** Lines of session files. */
  lines: number
}

export interface Context extends PeerOptions {
  /** A temporary folder on the checkout's disk. */
  folder: string
  /** Removes everything in the end. */
  stack: AsyncDisposableStack
}

export interface Measured {
  /** The rounds of each goal, in their order. */
  ratios: (readonly number[])[]
  /** What was divided, to judge the ratios by. */
  absolute: Rounds[]
}

/** A comparison that this machine lacks a program for. The message names it. */
export class LeftOut extends Error {}

export interface Peer {
  goals: readonly Goal[]
  measure(context: Context): Promise<Measured>
}

export interface RatioRow extends Goal {
  /** Undefined if it was not measured. */
  rounds?: readonly number[]
  /** Why it was not measured. */
  leftOut?: string
  /** Undefined also without a goal. */
  isMet?: boolean
}

export function ratioRows({ goals }: Peer, outcome: Measured | string): RatioRow[] {
  return goals.map((goal, at) => {
    if (typeof outcome === 'string') return { ...goal, leftOut: outcome }
    const rounds = outcome.ratios[at]!
    const { median } = spreadOf(rounds)
    if (goal.atMost === undefined && goal.atLeast === undefined) return { ...goal, rounds }
    const { atMost = Number.POSITIVE_INFINITY, atLeast = 0 } = goal
    return { ...goal, rounds, isMet: median <= atMost && median >= atLeast }
  })
}

function digits(value: number): string {
  return value >= 1_000
    ? Math.round(value).toLocaleString('en-US')
    : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}

function text(spread: Spread, unit: Rounds['unit']): string {
  return `${spreadText(spread, digits)}${unit === undefined ? '' : unit === '/s' ? unit : ` ${unit}`}`
}

export function printRows(ratios: readonly RatioRow[], absolute: readonly Rounds[]): void {
  const goalOf = ({ atMost, atLeast, unit }: Goal) => {
    if (atMost !== undefined) return `≤ ${atMost} ${unit ?? ''}`.trim()
    return atLeast === undefined ? '' : `≥ ${atLeast} ${unit ?? ''}`.trim()
  }
  printTable(
    [
      ['', 'median (range)', 'goal', 'met'],
      ...ratios.map(({ rounds, leftOut, isMet, ...goal }) => [
        goal.name,
        rounds ? text(spreadOf(rounds), goal.unit) : leftOut!,
        goalOf(goal),
        isMet === undefined ? '' : isMet ? 'yes' : '**no**',
      ]),
      ...absolute.map(({ name, rounds, unit }) => [name, text(spreadOf(rounds), unit), '', '']),
    ],
    [0, 3],
  )
}

/** Runs a round's sides in changing order, so that other load on the machine affects all of them. */
export async function alternate<Side extends string, Result>(
  { rounds }: PeerOptions,
  sides: Record<Side, () => Promise<Result>>,
  show: (side: string, round: number) => void,
): Promise<Record<Side, Result[]>> {
  const names = Object.keys(sides) as Side[]
  const results = Object.fromEntries(names.map((side) => [side, [] as Result[]])) as Record<Side, Result[]>
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? names : names.toReversed()) {
      show(side, round)
      results[side].push(await sides[side]())
    }
  }
  return results
}
