/**
 * Checks that a format is the one that a reader was written for. A count whose name changed with the agent would otherwise be
 * read as 0.
 */
import { countsOf, type OnDamage, objectOf, textOf } from '../model-calls.ts'
import { columnsOf, type Database } from '../session-database.ts'
import type { Damages } from '../session-lines.ts'

/** Reads counts that the agent always records, and reports those that are absent. */
export function recordedCounts<Names extends readonly string[]>(
  record: Record<string, unknown>,
  names: Names,
  onDamage: OnDamage,
): { -readonly [Index in keyof Names]: number } {
  reportAbsentCounts(record, names, onDamage)
  return countsOf(record, names, onDamage)
}

export function reportAbsentCounts(
  record: Record<string, unknown>,
  names: readonly string[],
  onDamage: OnDamage,
): void {
  for (const name of names) {
    if (record[name] !== undefined && record[name] !== null) continue
    onDamage(`has no count of ${name}, which is left out`, { reason: 'invalid_count', name })
  }
}

/** Reports counts that the reader does not know, next to known ones, also within an object, such as one of details. */
export function reportUnknownFields(
  record: Record<string, unknown>,
  known: ReadonlySet<string>,
  onDamage: OnDamage,
): void {
  for (const name in record) {
    if (known.has(name) || !hasCount(record[name])) continue
    onDamage(`has ${name} next to its counts, which is left out`, { reason: 'unknown_count', name })
  }
}

/** Those that are called as tokens, where a record also has other numbers, but not limits of the model. */
export function tokenFields(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => /^(?!max).*tokens?$/i.test(name)))
}

function hasCount(value: unknown): boolean {
  if (typeof value === 'number') return value > 0
  const details = objectOf(value)
  return details !== undefined && Object.values(details).some(hasCount)
}

/** Reports a record that no reader knows by its type, if it has the usage of a model. */
export function reportUnknownUsage(record: unknown, type: unknown, onDamage: OnDamage): void {
  if (!hasUsage(record)) return
  const name = textOf(type)
  const what = name === '' ? 'without a type' : `of the unknown type ${name}`
  onDamage(`is a record ${what} with token counts, and is not counted`, {
    reason: 'unknown_record',
    name: name || undefined,
  })
}

/** Whether a column is absent from a table, which is then left out or not read. */
export function reportAbsentColumns(
  database: Database,
  table: string,
  names: readonly string[],
  { damages, isLeftOut = false }: { damages: Damages; isLeftOut?: boolean },
): boolean {
  const found = columnsOf(database, table, names)
  const absent = names.filter((name) => !found.includes(name))
  if (absent.length === 0) return false
  const what = `has no ${absent.join(', ')} in its table ${table}, which is ${isLeftOut ? 'left out' : 'not read'}`
  damages.add(what, null, { reason: 'unknown_record', name: table })
  return true
}

/** Reports a version of a format that is newer than those that the reader was written for. */
export function reportUnknownVersion(version: unknown, onDamage: OnDamage): void {
  const what = `has version ${version} of the format, which this version of Tally may not read completely`
  onDamage(what, { reason: 'unknown_record', name: `version_${version}` })
}

/** What the names of counts begin with, in any agent. */
const INPUT = /^(?:input|prompt|tokens_?in)/i
const OUTPUT = /^(?:output|completion|candidates|tokens_?out)/i

/** These contain the conversation. */
const CONTENT = /^(?:content|parts|text|arguments|input|output|result)$/

/** Whether a record has counts of both sides of a request somewhere, one of which is not 0. */
function hasUsage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasUsage)
  const record = value as Record<string, unknown>
  let hasInput = false
  let hasOutput = false
  let isAbove = false
  for (const name in record) {
    const count = record[name]
    if (typeof count !== 'number') continue
    const isInput = INPUT.test(name)
    if (!isInput && !OUTPUT.test(name)) continue
    if (isInput) hasInput = true
    else hasOutput = true
    if (count > 0) isAbove = true
  }
  if (hasInput && hasOutput && isAbove) return true
  for (const name in record)
    if (typeof record[name] === 'object' && !CONTENT.test(name) && hasUsage(record[name])) return true
  return false
}
