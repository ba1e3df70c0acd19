/** Rules out most rules in one pass over the subject's values, whatever the number of rules. Pure. */
import type { CompiledCondition } from './condition.ts'
import { LiteralSearch } from './literal-search.ts'
import { rarest, searchedText } from './literals.ts'
import { type Subject, valuesOf } from './subject.ts'

/** Evaluating so few rules takes less time than searching a text. */
const FEW = 8

/** Code units of a literal, of which the last are searched for. A thousand globs take at most 6 MB then. */
const LONGEST = 32

/** Of every rule, only the literals of one of its conditions are searched for: those that the fewest values contain. */
export class RuleFilter {
  /** By rule, 1 if none of its conditions has literals. */
  readonly #unfiltered: Uint8Array
  /** By field, the rules that require a literal. */
  readonly #searches: [field: string, search: LiteralSearch<number[]>][]

  /** @param rules the conditions of each rule */
  constructor(rules: CompiledCondition[][]) {
    const uses = new Map<string, number>()
    for (const literal of rules.flat().flatMap(({ literals }) => literals.flat())) {
      uses.set(literal, (uses.get(literal) ?? 0) + 1)
    }
    const byField = new Map<string, Map<string, number[]>>()
    this.#unfiltered = Uint8Array.from(rules, (conditions, rule) => {
      const searched = rarest(
        conditions.flatMap(({ literals }) => literals),
        (literal) => uses.get(literal)!,
      )
      if (!searched) return 1
      const { field } = conditions.find(({ literals }) => literals.includes(searched))!
      const byLiteral = byField.getOrInsertComputed(field, () => new Map())
      for (const literal of searched) byLiteral.getOrInsertComputed(literal.slice(-LONGEST), () => []).push(rule)
      return 0
    })
    this.#searches = Array.from(byField, ([field, byLiteral]) => [field, new LiteralSearch(byLiteral)])
  }

  /** The rules that the subject may match: `rules` without those that it does not. */
  narrow<Ranked extends { index: number }>(rules: Ranked[], subject: Subject): Ranked[] {
    if (rules.length <= FEW) return rules
    const possible = this.#unfiltered.slice()
    for (const [field, search] of this.#searches) {
      for (const value of valuesOf(field, subject)) {
        for (const found of search.find(searchedText(value))) for (const index of found) possible[index] = 1
      }
    }
    return rules.filter(({ index }) => possible[index])
  }
}
