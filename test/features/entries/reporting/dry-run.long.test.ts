/** The limit of what a dry run of a batch shows. */
import { expect, test } from 'bun:test'
import type { SliceReport } from '../../../../src/features/entries/schema.ts'
import { startApp } from '../../../support/app.ts'

interface Batch {
  results: { result: string; problem: { code: string } | null }[]
  entries: unknown[]
}

const cell = (day: string, branch: string, input: number): SliceReport => ({
  ...{ started_at: `${day}T10:00:00Z`, ended_at: `${day}T10:01:00Z`, tokens: { input, output: 0 }, labels: { branch } },
})

/** A report of one of the sessions. */
const sliced = (session: number, slices: SliceReport[]) => ({
  ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: 'opus', session_id: `s-${session}` },
  ...{ started_at: '2026-10-30T00:00:00Z', ended_at: '2026-11-01T00:00:00Z', slices },
})

test('a dry run that concerns too many entries is refused', async () => {
  const app = await startApp()
  const token = await app.token('svc')
  const call = async (query: string, json: unknown) =>
    (await app.call(`POST /api/v1/token-entries/batch${query}`, { token, json })).json as Batch
  const branches = Array.from({ length: 400 }, (_, at) => cell('2026-10-30', `x-${at}`, 1))
  const sessions = Array.from({ length: 26 }, (_, at) => sliced(at, branches))
  await call('', sessions.slice(0, 13))
  await call('', sessions.slice(13))
  const later = sessions.map((_, at) => sliced(at, [cell('2026-10-31', 'x-0', 400)]))
  const shown = await call('?dry_run=true', later.slice(0, 24))
  expect(shown.entries).toHaveLength(24 * 401)
  const refused = await call('?dry_run=true', later)
  expect(refused.results.map(({ result, problem }) => [result, problem?.code])).toEqual(
    Array(26).fill(['rejected', 'too_many_entries']),
  )
  expect(refused.entries).toEqual([])
  // An entry that many reports concern is shown once.
  const short = branches.map((slice) => sliced(0, [slice]))
  expect((await call('?dry_run=true', short)).entries.length).toBeLessThanOrEqual(400)
  await app.close()
}, 60_000)
