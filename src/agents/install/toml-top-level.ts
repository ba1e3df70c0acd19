/**
 * Finds the positions of the top-level settings of a TOML document, which belong to no table. Their values are left to
 * a TOML parser.
 */

export interface Statement {
  /** As written in the file. */
  key: string
  start: number
  valueStart: number
  /** The end of the value; a comment may follow. */
  valueEnd: number
}

/** The four kinds of strings, each up to its end. */
const STRING = /"""(?:[^\\]|\\[\s\S])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y

/** In order. The document should be valid; otherwise the result is whatever was found. */
export function findTopLevel(text: string): Statement[] {
  const statements: Statement[] = []
  for (let position = 0; position < text.length; ) {
    const space = /(?:\s|#[^\n]*)*/y
    space.lastIndex = position
    space.test(text)
    const start = space.lastIndex
    if (start >= text.length || text[start] === '[') break
    const equals = endOf(text, start, (character) => character === '=' || character === '\n')
    if (text[equals] !== '=') break
    const blank = /[ \t]*/y
    blank.lastIndex = equals + 1
    blank.test(text)
    const valueStart = blank.lastIndex
    const valueEnd = endOfValue(text, valueStart)
    const key = text
      .slice(start, equals)
      .trim()
      .replace(/^(["'])(.*)\1$/, '$2')
    statements.push({ key, start, valueStart, valueEnd })
    position = valueEnd
  }
  return statements
}

/** The first position outside of strings with a matching character, or the end of the text. */
function endOf(text: string, from: number, fits: (character: string) => boolean): number {
  for (let position = from; position < text.length; position += 1) {
    const character = text[position]!
    if (fits(character)) return position
    if (character === '"' || character === "'") position = afterString(text, position) - 1
  }
  return text.length
}

function afterString(text: string, start: number): number {
  STRING.lastIndex = start
  return STRING.test(text) ? STRING.lastIndex : text.length
}

/** A value ends at the end of its line, unless a bracket is open. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  let end = start
  for (let position = start; position < text.length; ) {
    position = endOf(text, position, (character) => '[]{}#\n'.includes(character))
    const character = text[position]
    if (character === undefined) break
    if (depth === 0 && (character === '\n' || character === '#')) return trimmedEnd(text, start, position)
    if (character === '#') {
      const newline = text.indexOf('\n', position)
      position = newline < 0 ? text.length : newline
      continue
    }
    if ('[{'.includes(character)) depth += 1
    if (']}'.includes(character)) depth -= 1
    position += 1
    end = position
    if (depth === 0 && ']}'.includes(character)) return end
  }
  return trimmedEnd(text, start, text.length)
}

function trimmedEnd(text: string, start: number, end: number): number {
  return start + text.slice(start, end).trimEnd().length
}
