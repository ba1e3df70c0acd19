/** The colors of the things in a chart. Pure. */

/**
 * Of light and of dark pages. The colors stand out from the background with 3:1 (WCAG 1.4.11), and no two look alike, also
 * with color blindness: the tests calculate it.
 */
export const PALETTE = {
  light: ['#184690', '#d57611', '#0f763c', '#d91342', '#0099d3', '#aa4887', '#5b3b00', '#6e2fc6'],
  dark: ['#2d7cfb', '#fb8d25', '#48ba7c', '#c54455', '#81dffe', '#e49cc4', '#b77b04', '#8d5bc2'],
} as const

/** As many things can be told apart by color; a chart adds up the others. */
export const MOST_COLORS = PALETTE.light.length

export const COLORS = PALETTE.light.map((light, at) => `light-dark(${light}, ${PALETTE.dark[at]})`)

/** What has no name, such as entries without a project, and everything that is not shown by itself. */
export const REST_COLOR = '#868e96'

/** A single series, which nothing has to be distinguished from. */
export const ONLY_COLOR = 'var(--mantine-primary-color-filled)'

/** FNV-1a: spreads ids that differ in their last characters only. */
const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** The color that a thing has in every chart in which no other has it. */
function preferredSlot(id: string): number {
  let hash = OFFSET
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), PRIME)
  // The lowest bits of the hash depend on few of the text's.
  return ((hash ^ (hash >>> 15)) >>> 0) % MOST_COLORS
}

/**
 * The colors of the things in one chart: the preferred ones, and for a thing whose color another has, the next one that is
 * free. In the order of the ids, not of the amounts: the same things look the same when their order changes.
 */
export function colorsOf(ids: readonly string[]): string[] {
  const slots = new Map(ids.toSorted().map((id) => [id, preferredSlot(id)]))
  const free = new Set(COLORS.keys())
  const displaced = [...slots].filter(([, slot]) => !free.delete(slot))
  for (const [id, preferred] of displaced) {
    let slot = preferred
    while (free.size > 0 && !free.has(slot)) slot = (slot + 1) % MOST_COLORS
    free.delete(slot)
    slots.set(id, slot)
  }
  return ids.map((id) => COLORS[slots.get(id)!]!)
}
