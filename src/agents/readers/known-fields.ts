/**
 * Checks that a format is the one that a reader was written for. A count whose name changed with the agent would otherwise be
 * read as 0.
 */
import { countsOf, type OnDamage } from '../model-calls.ts'

/** Reads counts that the agent always records, and reports those that are absent. */
export function recordedCounts<Names extends readonly string[]>(
  record: Record<string, unknown>,
  names: Names,
  onDamage: OnDamage,
): { -readonly [Index in keyof Names]: number } {
  for (const name of names) {
    if (record[name] === undefined || record[name] === null) onDamage(`has no count of ${name}, which is left out`)
  }
  return countsOf(record, names, onDamage)
}

/** Reports fields with a value that the reader does not know, next to counts or a cost. */
export function reportUnknownFields(
  record: Record<string, unknown>,
  known: ReadonlySet<string>,
  onDamage: OnDamage,
): void {
  for (const [name, value] of Object.entries(record)) {
    if (value && !known.has(name)) onDamage(`has ${name} next to its counts, which is left out`)
  }
}
