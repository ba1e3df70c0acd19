/** Entries for exports: narrow rows by the thousand, and each text that they refer to once. */
import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../../access/visibility.ts'
import type { Reader } from '../../../../database/database.ts'
import type { LabelMap } from '../../../../database/schema/records.ts'
import type { Tables } from '../../../../database/schema/tables.ts'
import { settledColumns } from '../../billing/store.ts'
import type { EntryFilter, Position } from '../filter.ts'
import { conditionOf } from './conditions.ts'
import { isBehind } from './lists.ts'

export interface ExportRequest {
  filter: EntryFilter
  viewer: Viewer
}

/** The five counts and their sum, as six cells. */
function countsText({ input, output, cacheRead, cacheWrite, cacheWrite1h }: Tables['entries']) {
  const counts = [input, output, cacheRead, cacheWrite, cacheWrite1h]
  return sql<string>`${sql.join(counts, sql.raw(" || ',' || "))} || ',' || (${sql.join(counts, sql.raw(' + '))})`
}

/** Rows newest first, starting after `after`. Values that many rows share are referred to by key. */
export function listExported(
  reader: Reader,
  { filter, viewer }: ExportRequest,
  { after, limit }: { after: Position | undefined; limit: number },
) {
  const { entries: e, sessions } = reader.tables
  const { status, billId } = settledColumns(reader)
  return reader
    .select({
      id: e.id,
      uid: e.uid,
      // Concatenated in SQL, because reading each value separately costs more than the rest of its cell.
      state: sql<string>`${status} || ',' || ${e.source}`,
      managerId: e.managerId,
      managerBy: e.managerBy,
      harnessId: e.harnessId,
      agentId: e.agentId,
      modelId: e.modelId,
      providerId: e.providerId,
      startedAt: e.startedAt,
      endedAt: e.endedAt,
      counts: countsText(e),
      requests: sql<string | null>`cast(${e.requests} as text)`,
      reportedCost: e.reportedCost,
      listValue: e.listValue,
      priceId: e.priceId,
      priceNote: e.priceNote,
      projectId: e.projectId,
      ticketId: e.ticketId,
      placedBy: e.placedBy,
      summary: e.summary,
      labelSetId: e.labelSetId,
      sessionKey: sessions.sessionKey,
      part: sql<string | null>`cast(${e.part} as text)`,
      duplicateId: e.possibleDuplicateId,
      billId,
      sheetId: e.sheetId,
      createdAt: e.createdAt,
      usageDetails: e.usageDetails,
    })
    .from(e)
    .leftJoin(sessions, eq(sessions.id, e.sessionId))
    .where(and(conditionOf(reader, filter), visibleEntries(reader, viewer), isBehind(reader, after)))
    .orderBy(desc(e.startedAt), desc(e.id))
    .limit(limit)
}

export type ExportedRow = Awaited<ReturnType<typeof listExported>>[number]

/** The tables that rows refer to, and the text that an export shows for each row of them. */
const TEXTS = {
  managers: ({ users: t }: Tables) => ({ table: t, id: t.id, text: t.name }),
  names: ({ names: t }: Tables) => ({ table: t, id: t.id, text: t.text }),
  prices: ({ prices: t }: Tables) => ({ table: t, id: t.id, text: t.uid }),
  projects: ({ projects: t }: Tables) => ({ table: t, id: t.id, text: t.key }),
  tickets: ({ tickets: t }: Tables) => ({ table: t, id: t.id, text: t.key }),
  entries: ({ entries: t }: Tables) => ({ table: t, id: t.id, text: t.uid }),
  bills: ({ bills: t }: Tables) => ({ table: t, id: t.id, text: t.number }),
  sheets: ({ sheets: t }: Tables) => ({ table: t, id: t.id, text: t.uid }),
}

export type Referred = keyof typeof TEXTS

export async function listTexts(reader: Reader, of: Referred, ids: number[]): Promise<{ id: number; text: string }[]> {
  const { table, id, text } = TEXTS[of](reader.tables)
  return reader
    .select({ id, text })
    .from(table as never)
    .where(inArray(id, ids)) as never
}

export async function listLabelSets(reader: Reader, ids: number[]): Promise<{ id: number; labels: LabelMap }[]> {
  const { labelSets } = reader.tables
  return reader.select().from(labelSets).where(inArray(labelSets.id, ids))
}
