/** The result of applying rules: single moves and their sums. Pure. */
import type { Nanos } from '../../../lib/money.ts'
import type { Rule } from '../../placement/service.ts'
import type { PlaceBody } from './placed-entry.ts'
import type { PlacedEntry } from './store/places.ts'

export interface Move {
  placed: PlacedEntry
  from: PlaceBody
  to: PlaceBody
  rule: Pick<Rule, 'uid' | 'name' | 'version'> | null
  /** Null if unknown. */
  costNanos: Nanos | null
  note: string | null
}

/** Moves from one place to another by the same rule. */
export interface MoveGroup {
  from: PlaceBody
  to: PlaceBody
  rule: Move['rule']
  entries: number
  unpricedEntries: number
  costNanos: Nanos
}

export interface Applied {
  /** Entries that moved. */
  entries: number
  /** The number of these entries that have no known cost. */
  unpricedEntries: number
  costNanos: Nanos
  groups: MoveGroup[]
  moves: Move[]
  /** Whether all entries were processed. */
  isComplete: boolean
  nextPage: string | null
}

/** Combines the results of consecutive calls. */
export function joinApplied(answers: Applied[]): Applied {
  const groups = new Map<string, MoveGroup>()
  for (const group of answers.flatMap((answer) => answer.groups)) {
    const key = keyOf(group)
    const known = groups.get(key)
    if (known) {
      known.entries += group.entries
      known.unpricedEntries += group.unpricedEntries
      known.costNanos += group.costNanos
    } else groups.set(key, { ...group })
  }
  return {
    entries: answers.reduce((sum, { entries }) => sum + entries, 0),
    unpricedEntries: answers.reduce((sum, { unpricedEntries }) => sum + unpricedEntries, 0),
    costNanos: answers.reduce((sum, { costNanos }) => sum + costNanos, 0n),
    groups: [...groups.values()].sort(dearestFirst),
    moves: answers.flatMap(({ moves }) => moves),
    isComplete: answers.at(-1)!.isComplete,
    nextPage: answers.at(-1)!.nextPage,
  }
}

function keyOf({ from, to, rule }: Pick<MoveGroup, 'from' | 'to' | 'rule'>): string {
  return JSON.stringify([from, to, rule?.uid])
}

/** The highest cost first, as that is what people check before they agree. */
function dearestFirst(one: MoveGroup, other: MoveGroup): number {
  if (one.costNanos !== other.costNanos) return one.costNanos > other.costNanos ? -1 : 1
  return other.entries - one.entries
}

/** Sums moves. An entry that several batches would move along with its ticket counts once. */
export class MoveTotals {
  readonly groups = new Map<string, MoveGroup>()
  readonly moves: Move[] = []
  readonly #movedAlong = new Set<number>()
  #entries = 0
  #unpricedEntries = 0
  #costNanos: Nanos = 0n

  add(moves: Move[], isListed: boolean): void {
    for (const move of moves) {
      if (move.from.ticket !== null && this.#isKnown(move.placed.entry.id)) continue
      if (isListed) this.moves.push(move)
      const cost = move.costNanos
      const group = this.#groupOf(move)
      group.entries += 1
      this.#entries += 1
      group.unpricedEntries += cost === null ? 1 : 0
      this.#unpricedEntries += cost === null ? 1 : 0
      group.costNanos += cost ?? 0n
      this.#costNanos += cost ?? 0n
    }
  }

  #isKnown(id: number): boolean {
    if (this.#movedAlong.has(id)) return true
    this.#movedAlong.add(id)
    return false
  }

  #groupOf({ from, to, rule }: Move): MoveGroup {
    const key = keyOf({ from, to, rule })
    const group = this.groups.get(key) ?? { from, to, rule, entries: 0, unpricedEntries: 0, costNanos: 0n }
    this.groups.set(key, group)
    return group
  }

  applied(nextPage: string | null): Applied {
    return {
      entries: this.#entries,
      unpricedEntries: this.#unpricedEntries,
      costNanos: this.#costNanos,
      groups: [...this.groups.values()].sort(dearestFirst),
      moves: this.moves,
      isComplete: nextPage === null,
      nextPage,
    }
  }
}
