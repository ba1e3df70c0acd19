/** Patterns of `LIKE … ESCAPE '!'` for texts with arbitrary characters. */

function literal(text: string): string {
  return text.replace(/[!%_]/g, (character) => `!${character}`)
}

export function containing(text: string): string {
  return `%${literal(text)}%`
}

/** Texts with all of the parts, one after the other. */
export function containingInOrder(parts: readonly string[]): string {
  return `%${parts.map((part) => `${literal(part)}%`).join('')}`
}

export function beginningWith(text: string): string {
  return `${literal(text)}%`
}
