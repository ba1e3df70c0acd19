/**
 * Rows as PostgreSQL's COPY writes and reads them as text: a line per row, with tabs between its columns.
 * https://www.postgresql.org/docs/current/sql-copy.html, "Text Format"
 */
import type { ColumnKind, MovedTable } from './tables.ts'

/** What COPY writes with a backslash, which is escaped first. */
const ESCAPED: [character: string, letter: string][] = [
  ['\\', '\\'],
  ['\b', 'b'],
  ['\f', 'f'],
  ['\n', 'n'],
  ['\r', 'r'],
  ['\t', 't'],
  ['\v', 'v'],
]

const LETTERS = new Map(ESCAPED.map(([character, letter]) => [letter, character]))

/** What the engines call the same functions. */
const FUNCTIONS = {
  sqlite: { character: 'char', hex: (column: string) => `lower(hex(${column}))` },
  postgres: { character: 'chr', hex: (column: string) => `encode(${column}, 'hex')` },
}

/**
 * A line of a table as an expression of SQL, because the engines write it several times as fast as JavaScript. Not
 * PostgreSQL's own COPY TO: postgres.js does not continue to read it after a pause of the reader.
 */
export function lineExpression({ columns }: MovedTable, engine: keyof typeof FUNCTIONS): string {
  const { character, hex } = FUNCTIONS[engine]
  const textIn: Record<ColumnKind, (column: string) => string> = {
    integer: (column) => `CAST(${column} AS text)`,
    flag: (column) => `CASE WHEN ${column} THEN 't' WHEN NOT ${column} THEN 'f' END`,
    bytes: (column) => `CASE WHEN ${column} IS NOT NULL THEN '\\\\x' || ${hex(column)} END`,
    text: (column) =>
      ESCAPED.reduce(
        (text, [escaped, letter]) => `replace(${text}, ${character}(${escaped.codePointAt(0)}), '\\${letter}')`,
        column,
      ),
  }
  const texts = columns.map(({ name, kind }) => `coalesce(${textIn[kind](`"${name}"`)}, '\\N')`)
  return `concat_ws(${character}(9), ${texts.join(', ')})`
}

/** The values of a line as SQLite stores them. Throws if it is not a line of this table. */
export function sqliteValues(
  { name, columns }: MovedTable,
  line: string,
): (string | number | bigint | Buffer | null)[] {
  const texts = line.split('\t')
  if (texts.length !== columns.length) throw new Error(`A row of ${name} has ${texts.length} columns`)
  return texts.map((text, position) => (text === '\\N' ? null : VALUES[columns[position]!.kind](text)))
}

/** Integers of so many digits are exact numbers. */
const EXACT_DIGITS = 15

const VALUES: Record<ColumnKind, (text: string) => string | number | bigint | Buffer> = {
  integer: (text) => (text.length <= EXACT_DIGITS ? Number(text) : BigInt(text)),
  flag: (text) => (text === 't' ? 1 : 0),
  bytes: (text) => Buffer.from(text.slice('\\\\x'.length), 'hex'),
  text: (text) => (text.includes('\\') ? text.replace(/\\(.)/g, (_, letter) => LETTERS.get(letter)!) : text),
}

/** Lines as one text. */
export const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
