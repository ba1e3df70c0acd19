/** Saved views: who sees, changes and deletes them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../../src/database/database.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'

forEachEngine('a saved view', (open) => {
  let db: Database
  let app: TestApp
  let admin: string
  let member: string

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db })
    admin = await app.session('admin')
    member = await app.session('member')
  })
  afterAll(() => app.close())

  const VIEW = { name: 'Cost by client', parameters: { by: 'client', period: 'last-month', model: ['gpt-5-codex'] } }
  const save = async (session: string, more: object = {}) => {
    const { status, json } = await app.call('POST /api/v1/report-views', { session, json: { ...VIEW, ...more } })
    expect(status).toBe(201)
    return json as { id: string }
  }
  const seen = async (session: string) =>
    ((await app.call('GET /api/v1/report-views', { session })).json as { data: { id: string; mine: boolean }[] }).data
  const change = (session: string, id: string, json: object) =>
    app.call(`PATCH /api/v1/report-views/${id}`, { session, json })
  const remove = (session: string, id: string) => app.call(`DELETE /api/v1/report-views/${id}`, { session })

  test('is seen, changed and deleted by nobody else while it is not shared, not even by admins', async () => {
    const { id } = await save(member, { pinned: true })
    expect((await seen(admin)).map((view) => view.id)).not.toContain(id)
    expect((await change(admin, id, { name: 'Mine now' })).status).toBe(404)
    expect((await remove(admin, id)).status).toBe(404)
    expect(await seen(member)).toMatchObject([{ ...VIEW, id, mine: true, pinned: true, shared: false }])
    expect((await change(member, id, { name: 'Renamed', parameters: { by: 'model' } })).json).toMatchObject({
      name: 'Renamed',
      parameters: { by: 'model' },
      pinned: true,
    })
    expect((await remove(member, id)).status).toBe(204)
    expect(await seen(member)).toEqual([])
  })

  test('is seen by all while it is shared, but changed by its owner only', async () => {
    const { id } = await save(admin, { shared: true, pinned: true })
    expect(await seen(member)).toMatchObject([{ id, mine: false, shared: true, pinned: false }])
    expect((await change(member, id, { shared: false })).status).toBe(403)
    expect((await remove(member, id)).status).toBe(403)
    expect((await change(admin, id, { shared: false })).status).toBe(200)
    expect(await seen(member)).toEqual([])
    expect((await remove(admin, id)).status).toBe(204)
  })

  test('that is shared can be deleted by an admin', async () => {
    const { id } = await save(member, { shared: true })
    expect((await change(admin, id, { name: 'x' })).status).toBe(403)
    expect((await remove(admin, id)).status).toBe(204)
    expect(await seen(member)).toEqual([])
  })

  test('contains only the question of a report, of limited size', async () => {
    const refused: object[] = [
      { name: '' },
      { name: '  ' },
      { name: 'x'.repeat(101) },
      { parameters: { measure: 'secrets' } },
      { parameters: { by: 'label:No Name' } },
      { parameters: { open: 'ent_1' } },
      { parameters: { model: Array.from({ length: 101 }, () => 'm') } },
      { parameters: { model: Array.from({ length: 100 }, () => 'm'.repeat(100)) } },
      { parameters: { q: 'a\0b' } },
    ]
    for (const more of refused) {
      const { status } = await app.call('POST /api/v1/report-views', { session: admin, json: { ...VIEW, ...more } })
      expect([more, status]).toEqual([more, 422])
    }
    expect(await seen(admin)).toEqual([])
  })

  test('is one of a hundred at most', async () => {
    for (let left = 100; left > 0; left -= 1) await save(member)
    expect((await app.call('POST /api/v1/report-views', { session: member, json: VIEW })).status).toBe(422)
  })
})
