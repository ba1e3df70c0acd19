/** Lengths of texts in characters, as JSON Schema, SQLite and PostgreSQL count them: in code points, not UTF-16 units. */

/** Counts only where the number of units doesn't decide: a character has one or two of them. */
export function hasMoreCharacters(text: string, limit: number): boolean {
  return text.length > limit && (text.length > 2 * limit || [...text].length > limit)
}

/** The beginning of a text, without half a character at its end. */
export function firstCharacters(text: string, limit: number): string {
  return text.length <= limit ? text : [...text.slice(0, 2 * limit)].slice(0, limit).join('')
}
