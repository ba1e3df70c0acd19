/** Which of the known names somebody probably meant. Pure. */
import { firstCharacters, hasMoreCharacters } from './characters.ts'

/** More would not be read. */
const SUGGESTED = 3

/** Longer texts are compared by their beginnings, so that a request cannot choose how long a comparison takes. */
const COMPARED_LENGTH = 64

/** Of names as long as `acme-web`, two letters may be wrong; of the shortest, one. */
const toleranceOf = (name: string) => Math.min(3, Math.max(1, Math.floor(name.length / 4)))

/** Words of fewer letters than this are too much like others. */
const COMPARED_WORD = 4

/**
 * The names that differ least from a text, nearest first; those that begin or end with it are near as well, and so are
 * those with a word that is like it.
 */
export function nearestNames(text: string, names: Iterable<string>): string[] {
  const wanted = comparable(text)
  const found = new Map<string, number>()
  for (const name of names) {
    const distance = distanceOf(wanted, comparable(name))
    if (distance !== undefined) found.set(name, distance)
  }
  return [...found]
    .sort(([one, nearness], [other, distance]) => nearness - distance || (one < other ? -1 : 1))
    .slice(0, SUGGESTED)
    .map(([name]) => name)
}

function comparable(text: string): string {
  return text.trim().toLowerCase().slice(0, COMPARED_LENGTH)
}

function distanceOf(wanted: string, name: string): number | undefined {
  const tolerance = toleranceOf(wanted)
  const edits = editsBetween(wanted, name, tolerance)
  if (edits !== undefined) return edits
  // A part of a name: `acme` for `acme-web`. A single letter begins too many.
  const isPart = wanted.length > 1 && (name.startsWith(wanted) || name.endsWith(wanted))
  if (isPart) return tolerance + 1
  // A mistyped word of a name: `acne` for `Acme Ltd`.
  if (wanted.length < COMPARED_WORD) return undefined
  const words = name.split(/[^\p{L}\p{N}]+/u).map((word) => editsBetween(wanted, word, tolerance))
  const fewest = Math.min(...words.filter((edits) => edits !== undefined))
  return Number.isFinite(fewest) ? tolerance + 1 + fewest : undefined
}

/**
 * How many letters to insert, remove, replace or swap with their neighbor (optimal string alignment); undefined if more
 * than `most`.
 */
export function editsBetween(one: string, other: string, most: number): number | undefined {
  if (Math.abs(one.length - other.length) > most) return undefined
  let earlier: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = previous[column - 1]! + Number(one[row - 1] !== other[column - 1])
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const swapped = isSwapped ? earlier[column - 2]! + 1 : replaced
      current.push(Math.min(replaced, swapped, previous[column]! + 1, current[column - 1]! + 1))
    }
    if (Math.min(...current) > most) return undefined
    earlier = previous
    previous = current
  }
  return previous[other.length]! > most ? undefined : previous[other.length]
}

/** The issue of a filter by a name that nobody has: what it was, and what was probably meant. */
export function unknownName(pointer: string, what: string, text: string, known: Iterable<string>) {
  const nearest = nearestNames(text, known)
  const shown = hasMoreCharacters(text, COMPARED_LENGTH) ? `${firstCharacters(text, COMPARED_LENGTH)}…` : text
  const hint = nearest.length > 0 ? `; did you mean ${nearest.map((name) => `'${name}'`).join(' or ')}?` : ''
  return { pointer, code: 'unknown_name', message: `there is no ${what} '${shown}'${hint}` }
}
