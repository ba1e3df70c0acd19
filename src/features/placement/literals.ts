/** The literals of a condition: texts that a value must contain to match it. They rule out most conditions. Pure. */
import type { RE2JS } from 're2js'
import { foldName } from '../../lib/names.ts'

/** Every value that matches contains at least one of these. */
export type Alternatives = string[]

/** What re2js derives from an expression to reject texts without evaluating it. */
interface Prefilter {
  type: number
  str: string
  subs: Prefilter[]
}

/** The types of a prefilter. re2js does not export their names. */
const LITERAL = 1
const ALL = 2
const ANY = 3

/** @param folded the glob in canonical form */
export function literalsOfGlob(folded: string): Alternatives[] {
  const parts = folded.split(/[*?]+/)
  return parts.filter((part) => part !== '').map((part) => [part])
}

export function literalsOfExpression(expression: RE2JS): Alternatives[] {
  return literalsOf(expression.re2().prefilter, foldAscii)
}

/**
 * The literals of an expression that ignores case, for which re2js derives none.
 * @param withCase the same expression, compiled to respect case
 */
export function literalsIgnoringCase(withCase: RE2JS): Alternatives[] {
  return literalsOf(withCase.re2().prefilter, longestAscii)
}

/** @param fold returns the part of a literal to search for, in its folded form; empty if there is none */
function literalsOf(prefilter: Prefilter | null, fold: (literal: string) => string): Alternatives[] {
  switch (prefilter?.type) {
    case LITERAL: {
      const literal = fold(prefilter.str)
      return literal === '' ? [] : [[literal]]
    }
    case ALL:
      return prefilter.subs.flatMap((sub) => literalsOf(sub, fold))
    case ANY: {
      const each = prefilter.subs.map((sub) => rarest(literalsOf(sub, fold), () => 1))
      return each.every((literals) => literals !== undefined) ? [[...new Set(each.flat())]] : []
    }
    default:
      return []
  }
}

/**
 * The alternatives that the fewest texts are expected to contain: a literal is assumed to be half as frequent with every
 * character, and more frequent if many conditions use it.
 */
export function rarest(choices: Alternatives[], usesOf: (literal: string) => number): Alternatives | undefined {
  const frequency = (literals: Alternatives) =>
    literals.reduce((sum, literal) => sum + usesOf(literal) / 2 ** literal.length, 0)
  const [first, ...others] = choices
  return others.reduce((best, other) => (best && frequency(best) <= frequency(other) ? best : other), first)
}

/** The letters of ASCII, and the two characters beyond that RE2 matches with one of them: long s and the Kelvin sign. */
const LETTERS = /[A-Z\u017f\u212a]/g

/** Folds character by character, so that a folded text contains the folded forms of its parts. */
function foldAscii(text: string): string {
  return text.replace(LETTERS, (letter) => letter.toUpperCase().toLowerCase())
}

/** Characters beyond ASCII are ignored: more than two of them can be equal, or one equal to several. */
function longestAscii(literal: string): string {
  const parts = foldAscii(literal).match(/\p{ASCII}+/gu) ?? []
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '')
}

const ASCII = /^\p{ASCII}*$/u

/** The text to search for literals: the value as expressions match it and as globs do, which differ beyond ASCII. */
export function searchedText(value: string): string {
  return ASCII.test(value) ? value.toLowerCase() : `${foldAscii(value)}\n${foldName(value)}`
}
