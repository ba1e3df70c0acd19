/** What recording locks first, so that it sees what others committed about the same sessions and keys. */
import type { Reader } from '../../../database/database.ts'
import { hashOfSessionId } from '../../../lib/session-id.ts'
import { normalizeModelName } from '../../prices/service.ts'
import type { SetItem } from './plan.ts'
import { getName } from './store/names.ts'
import { getSession } from './store/sessions.ts'

/** The same for a session's id and for its hash. */
export function sessionLock(harness: string, sessionKey: string): string {
  return `session ${normalizeModelName(harness)} ${hashOfSessionId(sessionKey)}`
}

export function locksOf({ report, reporter, idempotencyKey }: SetItem): string[] {
  if (report.sessionKey !== undefined) return [sessionLock(report.harness, report.sessionKey)]
  return idempotencyKey === undefined ? [] : [`key ${reporter.manager.id} ${idempotencyKey}`]
}

export async function locksOfSessions(reader: Reader, sessionIds: readonly number[]): Promise<string[]> {
  const locks: string[] = []
  for (const id of sessionIds) {
    const { sessionKey, harnessId } = await getSession(reader, id)
    locks.push(sessionLock(await getName(reader, harnessId), sessionKey))
  }
  return locks
}
