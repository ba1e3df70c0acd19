/** Filters by projects, tickets and clients: a name that none has is an issue, not an empty list. */
import type { Reader } from '../../database/database.ts'
import type { Issue } from '../../errors.ts'
import { isId } from '../../lib/id.ts'
import { foldName } from '../../lib/names.ts'
import { unknownName } from '../../lib/nearest-names.ts'
import { type Kind, listKnownIds, listKnownNames, listNewestNames } from './store/known-names.ts'

export type { Kind as WorkKind }

const PREFIXES = { project: 'prj', ticket: 'tkt', client: 'cli' } as const

/** Selects what has no project, ticket or client. */
const NONE = 'none'

/** How many unknown names of a filter are listed, each with suggestions. */
const LISTED = 3

/** The issues of the values of a filter: ids and names that do not exist. Everyone may know these names. */
export async function issuesOfWork(
  reader: Reader,
  kind: Kind,
  values: readonly string[] | undefined,
  pointer: string,
): Promise<Issue[]> {
  const named = (values ?? []).filter((value) => value !== NONE)
  if (named.length === 0) return []
  const [ids, names] = [true, false].map((wanted) => named.filter((value) => isId(PREFIXES[kind], value) === wanted))
  const known = new Set([
    ...(await listKnownIds(reader, kind, ids!)),
    ...(await listKnownNames(reader, kind, names!.map(foldName))),
  ])
  const unknown = named.filter((value) => !known.has(value) && !known.has(foldName(value)))
  if (unknown.length === 0) return []
  const newest = await listNewestNames(reader, kind)
  return unknown.slice(0, LISTED).map((value) => unknownName(pointer, kind, value, newest))
}
