/**
 * The color of a thing: derived from its id alone, so that a project has the same color in every chart, whatever else is
 * shown and however large it is. Two things of one color in the same chart differ by their pattern. Pure.
 */

/**
 * Distinguishable with each kind of color blindness, and on light and dark backgrounds: the colors of Okabe and Ito without
 * their yellow, which is hard to see on white, and with a brown and a violet (https://jfly.uni-koeln.de/color/).
 */
export const COLORS = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#56b4e9', '#cc79a7', '#884422', '#7b61d9'] as const

/** What has no name, such as entries without a project, and everything that is not shown by itself. */
export const REST_COLOR = '#868e96'

/** A single series, which nothing has to be distinguished from. */
export const ONLY_COLOR = 'var(--mantine-primary-color-filled)'

/** Bars: solid, diagonal lines, dots, horizontal lines; lines: solid and three kinds of dashes. */
export const PATTERNS = ['solid', 'diagonal', 'dots', 'horizontal'] as const
export type Pattern = (typeof PATTERNS)[number]

/** FNV-1a: spreads ids that differ in their last characters only. */
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

function hashOf(id: string): number {
  let hash = OFFSET
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), PRIME)
  // The lowest bits of the hash depend on few of the text's.
  return (hash ^ (hash >>> 15)) >>> 0
}

/** Null is what has no value. */
export function colorOf(id: string | null): string {
  return id === null ? REST_COLOR : COLORS[hashOf(id) % COLORS.length]!
}

export interface Look {
  color: string
  pattern: Pattern
}

/** The looks of the things in one chart, no two of which are equal unless there are more than patterns. */
export function looksOf(ids: readonly (string | null)[]): Look[] {
  const looks = new Map<string | null, Look>()
  const used = new Map<string, number>()
  // In the order of the ids, not of the amounts: the same things look the same when their order changes.
  for (const id of [...new Set(ids)].sort((one, other) => ((one ?? '') < (other ?? '') ? -1 : 1))) {
    const color = colorOf(id)
    const before = used.get(color) ?? 0
    used.set(color, before + 1)
    looks.set(id, { color, pattern: PATTERNS[before % PATTERNS.length]! })
  }
  return ids.map((id) => looks.get(id)!)
}
