import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import { writeChangesPage } from '../../../../src/features/entries/listing/changes.ts'
import { listChanges, settledPosition } from '../../../../src/features/entries/listing/store/changes.ts'
import { listViews } from '../../../../src/features/entries/listing/store/lists.ts'
import { startApp } from '../../../support/app.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { reportBody } from '../../../support/reports.ts'
import { runs } from '../../../support/tier.ts'

const LIST = 'GET /api/v1/token-entries'
const ALL = '1970-01-01'

forEachEngine('changes of entries', (open, engine) => {
  async function stage() {
    const db = await open({ serving: true })
    const app = await startApp({ db })
    const admin = await app.session('admin')
    const agent = await app.token('svc')
    const act = async (call: string, json?: unknown, session: string | undefined = admin) => {
      const answer = await app.call(call, { session, json })
      expect([call, answer.status < 300 ? '' : answer.text]).toEqual([call, ''])
      return answer.json
    }
    const report = async (change: Record<string, unknown> = {}) =>
      (await app.call('POST /api/v1/token-entries', { token: agent, json: reportBody(change) })).json.id as string
    /** A program with a copy, which continues where it ended. */
    function copy(caller: Record<string, string> = { session: admin }) {
      let page = ''
      return async (): Promise<{ ids: string[]; deleted: string[] }> => {
        const found = { ids: [] as string[], deleted: [] as string[] }
        for (;;) {
          const { json } = await app.call(`${LIST}?updated_since=${ALL}&limit=2${page}`, caller)
          found.ids.push(...json.data.map(({ id }: { id: string }) => id))
          found.deleted.push(...json.deleted)
          page = `&page=${json.next_page}`
          if (!json.has_more) return found
        }
      }
    }
    return { db, app, admin, act, report, copy }
  }

  test('are found once each, whatever changed, also after the last page', async () => {
    const { app, act, report, copy } = await stage()
    await act('POST /api/v1/projects', { key: 'ACME' })
    const first = await report({
      session_id: 's-1',
      started_at: '2026-10-20T10:00:00Z',
      ended_at: '2026-10-20T10:30:00Z',
    })
    const others = [await report({ model: 'gpt-5' }), await report({ model: 'gpt-4' })]
    const changes = copy()
    expect((await changes()).ids).toEqual([first, ...others])
    expect(await changes()).toEqual({ ids: [], deleted: [] })

    const path = `/api/v1/token-entries/${first}`
    const totals = { tokens: { input: 900_000, output: 900_000 }, reported_cost: 3, ended_at: '2026-10-20T11:00:00Z' }
    const steps: [string, () => Promise<unknown>][] = [
      ['figures', () => report({ session_id: 's-1', started_at: '2026-10-20T10:00:00Z', ...totals })],
      ['placement', () => act(`PATCH ${path}`, { project: 'ACME' })],
      ['summary', () => act(`PATCH ${path}`, { summary: 'Another one' })],
      ['labels', () => act(`PATCH ${path}`, { labels: { team: 'web' } })],
      ['rejection', () => act(`POST ${path}/reject`, { reason: 'Why?' })],
      ['reopening', () => act(`POST ${path}/reopen`)],
      ['approval', () => act(`POST ${path}/approve`)],
      ['bill', () => act('POST /api/v1/bills', { month: '2026-10' })],
      ['void', async () => act('POST /api/v1/bills/2026-0001/void', { reason: 'Wrong' })],
      ['withdrawal', () => act(`POST ${path}/withdraw-approval`)],
    ]
    const updatedAt = async () => (await act(`GET ${path}`)).updated_at as string | null
    for (const [name, step] of steps) {
      const before = await updatedAt()
      await step()
      expect([name, await changes()]).toEqual([name, { ids: [first], deleted: [] }])
      expect([name, (await updatedAt()) !== before]).toEqual([name, true])
    }
    await act(`POST /api/v1/token-entries/${others[0]}/approve`)
    await act(`POST ${path}/approve`)
    const last = await report({ model: 'gpt-3' })
    expect((await changes()).ids).toEqual([last, others[0]!, first])
    await app.close()
  })

  test('of drafts, and their deletion, are told to those who saw them', async () => {
    const { app, admin, act, report, copy } = await stage()
    const stranger = await app.token('read', await app.person('member'))
    const [changes, strangers] = [copy(), copy({ token: stranger })]
    await report()
    const { id: sheet } = await act('POST /api/v1/token-sheets', { month: '2026-10' })
    const draft = reportBody({ started_at: '2026-10-20T10:00:00Z', ended_at: '2026-10-20T11:00:00Z' })
    const { id } = await act(`POST /api/v1/token-sheets/${sheet}/entries`, draft)
    expect((await changes()).ids).toHaveLength(2)
    await app.call(`DELETE /api/v1/token-sheets/${sheet}/entries/${id}`, { session: admin })
    // Its key may be given to the next entry.
    const next = await report({ model: 'gpt-5' })
    expect(await changes()).toEqual({ ids: [next], deleted: [id] })
    expect(await strangers()).toEqual({ ids: [], deleted: [] })
    await app.close()
  })

  test('are all found in windows smaller than what does not match', async () => {
    const { db, app, act, report } = await stage()
    const ids = []
    for (let at = 0; at < 12; at += 1) ids.push(await report({ model: `model-${at % 4}` }))
    for (const id of ids.slice(0, 6)) await act(`PATCH /api/v1/token-entries/${id}`, { summary: 'Another one' })
    const filter = { model: ['model-1'] }
    const found = new Set<number>()
    for (let after = { entry: 0, change: 0 }; ; ) {
      const until = await settledPosition(db)
      const page = await listChanges(db.read, { filter, viewer: EVERYTHING, after, until, limit: 2 }, 3)
      for (const { entry } of page.views) found.add(entry.id)
      after = page.next
      if (!page.hasMore) break
    }
    const all = await listViews(db.read, { filter, viewer: EVERYTHING, after: undefined, limit: 99 })
    expect([...found].sort()).toEqual(all.map(({ entry }) => entry.id).sort())
    await app.close()
  })

  test('since a moment leave out what was long before, and can be neither sorted nor exported', async () => {
    const { db, app, admin, report } = await stage()
    await report()
    const { entry, change } = await settledPosition(db)
    const listed = async (query: string) => (await app.call(`${LIST}?${query}`, { session: admin })).json
    expect((await listed('updated_since=2026-01-01')).data).toHaveLength(1)
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    expect(await listed(`updated_since=${tomorrow}`)).toMatchObject({ data: [], has_more: false, deleted: [] })
    for (const [query, pointer] of [
      ['updated_since=2026-01-01&sort=cost', '/query/updated_since'],
      ['updated_since=2026-01-01&order=asc', '/query/updated_since'],
      ['updated_since=2026-01-01&format=csv', '/query/updated_since'],
      ['updated_since=soon', '/query/updated_since'],
      // Of a database that a backup has replaced.
      [`updated_since=soon&page=${writeChangesPage({ entry: entry + 1, change })}`, '/query/updated_since'],
      [`updated_since=2026-01-01&page=${writeChangesPage({ entry: entry + 1, change })}`, '/query/page'],
      [`updated_since=2026-01-01&page=${writeChangesPage({ entry, change: change + 1 })}`, '/query/page'],
    ]) {
      expect((await listed(query!)).errors[0].pointer).toBe(pointer)
    }
    await app.close()
  })

  test('leave a copy as it should be, whatever happens at the same time', async () => {
    const { app, admin, report } = await stage()
    const { id: sheet } = (await app.call('POST /api/v1/token-sheets', { session: admin, json: { month: '2026-10' } }))
      .json
    const sheetPath = `/api/v1/token-sheets/${sheet}/entries`
    const call = async (path: string, json?: unknown) => (await app.call(path, { session: admin, json })).json
    const entry = (at: number) => ({
      session_id: `s-${at % 5}`,
      started_at: '2026-10-20T10:00:00Z',
      ended_at: `2026-10-20T10:30:${at % 60}Z`,
      tokens: { input: 1_000 * at, output: at },
      reported_cost: at,
    })
    const known: string[] = []
    const drafts: string[] = []
    const actions: ((at: number) => Promise<unknown>)[] = [
      async (at) => known.push(await report(entry(at))),
      async (at) => drafts.push((await call(`POST ${sheetPath}`, reportBody(entry(at)))).id),
      () => app.call(`DELETE ${sheetPath}/${drafts.shift()}`, { session: admin }),
      (at) => call(`PATCH /api/v1/token-entries/${known[at % 3]}`, { summary: `Summary ${at}` }),
      (at) => call(`POST /api/v1/token-entries/${known[at % 3]}/approve`),
      (at) => call(`POST /api/v1/token-entries/${known[at % 3]}/withdraw-approval`),
      () => call('POST /api/v1/bills', { month: '2026-10' }),
      async () => {
        const { data } = (await app.call('GET /api/v1/bills?limit=1', { session: admin })).json
        if (data[0]) await call(`POST /api/v1/bills/${data[0].id}/void`, { reason: 'Wrong' })
      },
    ]
    const held = new Map<string, unknown>()
    let page = ''
    const follow = async () => {
      let received = 0
      for (let more = true; more; ) {
        const { json } = await app.call(`${LIST}?updated_since=${ALL}&limit=3${page}`, { session: admin })
        for (const each of json.data) held.set(each.id, each)
        for (const id of json.deleted) held.delete(id)
        received += json.data.length
        page = `&page=${json.next_page}`
        more = json.has_more
      }
      return received
    }
    const steps = fc.sample(fc.nat(actions.length - 1), runs(60, 28))
    for (let at = 0; at < steps.length; at += 4) {
      const together = steps.slice(at, at + 4).map((step, offset) => actions[step]!(at + offset))
      await Promise.all([...together, follow()])
    }
    await follow()
    const { data } = (await app.call(`${LIST}?limit=500`, { session: admin })).json
    const listed = new Map<string, unknown>(data.map((each: { id: string }) => [each.id, each]))
    expect([steps, held]).toEqual([steps, listed])
    expect(await follow()).toBe(0)
    await app.close()
  })

  // SQLite has one writer.
  test.if(engine === 'postgres')('wait for transactions that drew an earlier id and commit later', async () => {
    const { db, app, report } = await stage()
    await report()
    const gate = Promise.withResolvers<void>()
    const drawn = Promise.withResolvers<void>()
    const slow = db.write(async (tx) => {
      const [id] = await tx.reserveIds(tx.tables.entries, 1)
      drawn.resolve()
      await gate.promise
      return id!
    })
    await drawn.promise
    const before = await settledPosition(db)
    for (let at = 0; at < 3; at += 1) await report({ model: `model-${at}` })
    expect((await settledPosition(db)).entry).toBe(before.entry)
    gate.resolve()
    expect(before.entry).toBeLessThan(await slow)
    expect((await settledPosition(db)).entry).toBe(await lastId(db))
    await app.close()
  })
})

async function lastId({ read }: Database): Promise<number> {
  const rows = await read.select({ id: read.tables.entries.id }).from(read.tables.entries)
  return Math.max(...rows.map(({ id }) => id))
}
