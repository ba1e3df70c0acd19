/** Filters by people: somebody who does not exist is an issue, not an empty list. */
import type { Reader } from '../../database/database.ts'
import type { Issue } from '../../errors.ts'
import { foldName } from '../../lib/names.ts'
import { unknownName } from '../../lib/nearest-names.ts'
import { listKnownPeople, listUsersByName } from './store/users.ts'

/** How many unknown people of a filter are listed, each with suggestions. */
const LISTED = 3

/** The people that suggestions are chosen from. */
const SUGGESTED_FROM = 1_000

/** The issues of ids and e-mail addresses that nobody has. Only for callers who may list people. */
export async function issuesOfPeople(
  reader: Reader,
  values: readonly string[] | undefined,
  pointer: string,
): Promise<Issue[]> {
  const unknown = await unknownPeople(reader, values ?? [])
  if (unknown.length === 0) return []
  const emails = (await listUsersByName(reader, {})).slice(0, SUGGESTED_FROM).map(({ email }) => email)
  return unknown.slice(0, LISTED).map((value) => unknownName(pointer, 'person', value, emails))
}

async function unknownPeople(reader: Reader, values: readonly string[]): Promise<string[]> {
  if (values.length === 0) return []
  const known = new Set((await listKnownPeople(reader, values)).flatMap(({ uid, email }) => [uid, email]))
  return values.filter((value) => !known.has(value) && !known.has(foldName(value)))
}
