/** A report that nobody waits for is stopped when its client disconnects. */
import { describe, expect, test } from 'bun:test'
import type { Database } from '../../src/database/database.ts'
import { startApp } from '../support/app.ts'
import { canOverlap, forEachEngine } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { countTo } from '../support/slow-program.ts'

const PREVIEW = { month: '2026-11' }

const READS: [name: string, path: string, init: RequestInit][] = [
  ['a report', '/api/v1/reports/usage?starting_at=2026-11-01&bucket_width=all', {}],
  ['the preview of a bill', '/api/v1/bills/preview', { method: 'POST', body: JSON.stringify(PREVIEW) }],
]

forEachEngine('a disconnected client', (open, engine) => {
  describe.skipIf(!canOverlap(engine))('leaves no question behind', () => {
    for (const [name, path, init] of READS) {
      test(name, async () => {
        const db = await open({ serving: true, slowDeadlineMs: 600_000 })
        const outcomes: string[] = []
        let asked = 0
        const slowly: Database['slowly'] = () => {
          asked += 1
          const answer = db.slow.select({ count: countTo(1e12) }).from(db.slow.tables.revision)
          return answer.then(
            () => outcomes.push('done') as never,
            (error) => {
              outcomes.push(error.code)
              throw error
            },
          )
        }
        const app = await startApp({ db: { ...db, slowly } })
        const client = new AbortController()
        const headers = { cookie: await app.session(), origin: app.url, 'content-type': 'application/json' }
        const response = fetch(app.url + path, { ...init, headers, signal: client.signal }).catch(() => 'gone')
        expect(await until(() => asked > 0)).toBe(true)
        // On an idle machine it has begun by then; one that waits for its turn has no outcome either.
        await Bun.sleep(200)
        expect(outcomes).toEqual([])
        client.abort()
        expect(await until(() => outcomes.length > 0)).toBe(true)
        expect(outcomes).toEqual(['database_deadline'])
        expect(await response).toBe('gone')
        await app.close()
      })
    }
  })
})
