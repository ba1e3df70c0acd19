/** Queries for rows of telemetry that should not exist. */
import { and, eq, notExists } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'

/** Totals that supply their session, which has no entry for their model. */
export function listTotalsWithoutEntries(reader: Reader, limit: number) {
  const { telemetryTotals, sessions, entries, names } = reader.tables
  const told = reader
    .select({ id: entries.id })
    .from(entries)
    .where(
      and(eq(entries.sessionId, telemetryTotals.sessionId), eq(entries.chainModelId, telemetryTotals.chainModelId)),
    )
  return reader
    .select({ session: sessions.sessionKey, source: telemetryTotals.source, model: names.text })
    .from(telemetryTotals)
    .innerJoin(sessions, and(eq(sessions.id, telemetryTotals.sessionId), eq(sessions.source, telemetryTotals.source)))
    .innerJoin(names, eq(names.id, telemetryTotals.chainModelId))
    .where(notExists(told))
    .limit(limit)
}

/** Sessions with identities of counted calls, but without totals. */
export function listSessionsWithoutTotals(reader: Reader, limit: number) {
  const { telemetrySessions, telemetryTotals, sessions } = reader.tables
  const totals = reader
    .select({ id: telemetryTotals.sessionId })
    .from(telemetryTotals)
    .where(eq(telemetryTotals.sessionId, telemetrySessions.sessionId))
  return reader
    .select({ session: sessions.sessionKey })
    .from(telemetrySessions)
    .innerJoin(sessions, eq(sessions.id, telemetrySessions.sessionId))
    .where(notExists(totals))
    .limit(limit)
}
