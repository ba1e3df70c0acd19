/** Entries that are valued at prices of long requests, in portions. */

import { and, eq } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import { conditionOf, type EntryFilter, type Position } from '../../../selection/contract.ts'
import { partOf } from '../../rows.ts'
import { type EntryRecord, viewTables } from '../../store.ts'
import type { Part } from '../../totals.ts'
import { isBehind, timeOrder } from './lists.ts'

interface Found {
  entry: EntryRecord
  model: string
  provider: string | null
}

export interface LongContextEntry extends Pick<Found, 'model' | 'provider'> {
  usage: Part
  priceId: number
  costNanos: bigint
  listValueNanos: bigint
}

interface LongContextQuery {
  viewer: Viewer
  /** With the period, and the filter `long_context`. */
  filter: EntryFilter
}

/** Enough that most periods need one query, and some ten megabytes. */
const PORTION = 5_000

/** All visible entries that match, the earliest first. Reads the entries of the period. */
export async function* readLongContext(reader: Reader, query: LongContextQuery): AsyncGenerator<LongContextEntry> {
  let after: Position | undefined
  do {
    const found: Found[] = await listPortion(reader, query, after)
    yield* found.map(longContextEntry)
    after = found.length < PORTION ? undefined : found.at(-1)!.entry
  } while (after)
}

/** The filter lets only entries with a list value through, and these have a price. */
function longContextEntry({ entry, model, provider }: Found): LongContextEntry {
  const usage = partOf(entry)
  return {
    model,
    provider,
    usage,
    priceId: entry.priceId!,
    costNanos: usage.costNanos!,
    listValueNanos: entry.listValue!,
  }
}

async function listPortion(
  reader: Reader,
  { viewer, filter }: LongContextQuery,
  after: Position | undefined,
): Promise<Found[]> {
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
