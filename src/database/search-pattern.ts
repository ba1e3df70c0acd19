/** Patterns of `LIKE … ESCAPE '!'` for texts with arbitrary characters. */

function literal(text: string): string {
  return text.replace(/[!%_]/g, (character) => `!${character}`)
}

export function containing(text: string): string {
  return `%${literal(text)}%`
}

export function beginningWith(text: string): string {
  return `${literal(text)}%`
}
