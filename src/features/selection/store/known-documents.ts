/** Which bills, token sheets and price loads exist, for filters that name them. */
import { and, desc, eq, exists, inArray, or, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries, visibleSheets } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { isId } from '../../../lib/id.ts'

/** The numbers that suggestions are chosen from: the newest. */
const SUGGESTED_FROM = 1_000

/** The ids and numbers of those of the bills that exist. */
export async function listKnownBills(reader: Reader, values: readonly string[]): Promise<string[]> {
  const { bills } = reader.tables
  const ids = values.filter((value) => isId('bil', value))
  const rows = await reader
    .select({ uid: bills.uid, number: bills.number })
    .from(bills)
    .where(or(inArray(bills.uid, ids), inArray(bills.number, [...values])))
  return rows.flatMap(({ uid, number }) => [uid, number])
}

export async function listNewestBillNumbers(reader: Reader): Promise<string[]> {
  const { bills } = reader.tables
  const rows = await reader.select({ number: bills.number }).from(bills).orderBy(desc(bills.id)).limit(SUGGESTED_FROM)
  return rows.map(({ number }) => number)
}

/** The ids of those of the sheets that the viewer can see, or of which they can see an entry. */
export async function listKnownSheets(reader: Reader, viewer: Viewer, values: readonly string[]): Promise<string[]> {
  const { entries, sheets } = reader.tables
  const ofSheet = and(eq(entries.sheetId, sheets.id), await visibleEntries(reader, viewer))
  const rows = await reader
    .select({ uid: sheets.uid })
    .from(sheets)
    .where(
      and(
        inArray(
          sheets.uid,
          values.filter((value) => isId('sht', value)),
        ),
        viewer.sees === 'everything'
          ? undefined
          : or(visibleSheets(reader, viewer), exists(reader.select({ one: sql`1` }).from(entries).where(ofSheet))),
      ),
    )
  return rows.map(({ uid }) => uid)
}

/** The ids of those of the loads that exist. */
export async function listKnownPriceLoads(reader: Reader, values: readonly string[]): Promise<string[]> {
  const { priceLoads } = reader.tables
  const ids = values.filter((value) => isId('pld', value))
  const rows = await reader.select({ uid: priceLoads.uid }).from(priceLoads).where(inArray(priceLoads.uid, ids))
  return rows.map(({ uid }) => uid)
}
