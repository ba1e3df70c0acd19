/** Entries that are valued at prices of long requests, in portions. */
import { and, eq } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { EntryFilter, Position } from '../../entries/listing/filter.ts'
import { conditionOf } from '../../entries/listing/store/conditions.ts'
import { isBehind, timeOrder } from '../../entries/listing/store/lists.ts'
import { type EntryRecord, viewTables } from '../../entries/store.ts'

export interface LongContextEntry {
  entry: EntryRecord
  model: string
  provider: string | null
}

interface LongContextQuery {
  viewer: Viewer
  /** With the period, and the filter `long_context`. */
  filter: EntryFilter
}

/** Enough that most periods need one query, and some ten megabytes. */
const PORTION = 5_000

/** All visible entries that match, the earliest first. Reads the entries of the period. */
export async function* readLongContext(reader: Reader, query: LongContextQuery) {
  let after: Position | undefined
  do {
    const found = await listPortion(reader, query, after)
    yield* found
    after = found.length < PORTION ? undefined : found.at(-1)!.entry
  } while (after)
}

async function listPortion(
  reader: Reader,
  { viewer, filter }: LongContextQuery,
  after: Position | undefined,
): Promise<LongContextEntry[]> {
  const { entries, models, providers } = viewTables(reader.tables)
  return reader
    .select({ entry: entries, model: models.text, provider: providers.text })
    .from(entries)
    .innerJoin(models, eq(models.id, entries.modelId))
    .leftJoin(providers, eq(providers.id, entries.providerId))
    .where(and(conditionOf(reader, filter), await visibleEntries(reader, viewer), isBehind(reader, after, 'asc')))
    .orderBy(...timeOrder(reader, 'asc'))
    .limit(PORTION)
}
