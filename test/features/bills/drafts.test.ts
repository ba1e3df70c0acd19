/** Drafts of bills: who sees and changes them, and what happens when two people do. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DRAFTS_LIMIT } from '../../../src/features/bills/drafts/service.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'

const FORM = {
  scope: 'client',
  client: { value: 'cli_x', label: 'Acme' },
  project: null,
  span: 'month',
  month: '2026-10-01',
  days: [null, '2026-10-31'],
  currency: null,
  exchange_rate: '0,9',
  group_by: ['project'],
  markup: 12.5,
  tax_name: '',
  tax_percent: '',
  extra_lines: [{ text: '', amount: '' }],
  note: 'two\nlines',
  purchase_order: '',
  due_days: '',
  show_cost: false,
  show_active_time: false,
  replaces: '',
  leave_unpriced: false,
  deliver: 'others',
  deliver_to: ['half@'],
  message: '',
} as const

forEachEngine('a draft of a bill', (open) => {
  let app: TestApp
  let ada: string
  let grace: string
  beforeAll(async () => {
    app = await startApp({ db: await open({ serving: true }) })
    ;[ada, grace] = [await app.session('admin'), await app.session('billing')]
  })
  afterAll(() => app.close())

  const add = (session: string, form: object = FORM) =>
    app.call('POST /api/v1/bill-drafts', { session, json: { form } })
  const change = (session: string, id: string, revision: number, more: object = {}) =>
    app.call(`PUT /api/v1/bill-drafts/${id}`, { session, json: { form: { ...FORM, ...more }, revision } })
  const list = async (session: string) => (await app.call('GET /api/v1/bill-drafts', { session })).json.data
  const remove = (session: string, id: string) => app.call(`DELETE /api/v1/bill-drafts/${id}`, { session })
  const actionsOf = async (id: string) =>
    (await app.call(`GET /api/v1/audit?object=${id}`, { session: ada })).json.data.map(
      ({ action }: { action: string }) => action,
    )

  test('is kept as it was typed, and continued by everyone who sends bills', async () => {
    const { status, json: draft } = await add(ada)
    expect([status, draft.form, draft.revision]).toEqual([201, FORM, 1])
    expect(await list(grace)).toEqual([draft])
    for (const revision of [1, 2]) expect((await change(grace, draft.id, revision, { note: 'mine' })).status).toBe(200)
    expect(await list(ada)).toMatchObject([
      { id: draft.id, revision: 3, form: { note: 'mine' }, created_by: draft.created_by },
    ])
    expect((await list(ada))[0].updated_by).not.toEqual(draft.created_by)
    expect((await remove(grace, draft.id)).status).toBe(204)
    expect((await remove(ada, draft.id)).status).toBe(404)
    expect(await list(ada)).toEqual([])
    // Saving while typing is no change of its own.
    expect(await actionsOf(draft.id)).toEqual(['bill_draft.removed', 'bill_draft.changed', 'bill_draft.added'])
  })

  test('is not overwritten with a revision that somebody else has replaced, even at the same time', async () => {
    const { id } = (await add(ada)).json
    const saved = await Promise.all([
      change(ada, id, 1, { note: 'of Ada' }),
      change(grace, id, 1, { note: 'of Grace' }),
    ])
    expect(saved.map(({ status }) => status).toSorted()).toEqual([200, 412])
    const won = saved.find(({ status }) => status === 200)!.json
    const { json } = saved.find(({ status }) => status === 412)!
    expect(json).toMatchObject({ code: 'changed_meanwhile', changed: { by: won.updated_by, at: won.updated_at } })
    expect((await app.call(`GET /api/v1/bill-drafts/${id}`, { session: ada })).json).toEqual(won)
    await remove(ada, id)
  })

  test('is nothing for members, viewers of numbers or tokens', async () => {
    const { id } = (await add(ada)).json
    const member = await app.session('member')
    for (const call of [add(member), change(member, id, 1), remove(member, id)]) expect((await call).status).toBe(403)
    expect((await app.call('GET /api/v1/bill-drafts', { session: member })).status).toBe(403)
    const token = await app.token('read')
    expect((await app.call('GET /api/v1/bill-drafts', { token })).status).toBe(403)
    await remove(ada, id)
  })

  describe('that is sent', () => {
    // A bill without entries is the same each time.
    const send = (session: string, draft: string | undefined, key?: string) =>
      app.call('POST /api/v1/bills', {
        session,
        json: { month: '2026-10', extra_lines: [{ text: 'Setup', amount: 200 }], ...(draft && { draft }) },
        ...(key && { headers: { 'idempotency-key': key } }),
      })
    const numbers = async () => (await app.call('GET /api/v1/bills', { session: ada })).json.data.length

    test('becomes one bill, whoever sends it at the same time, and is gone with it', async () => {
      const { id } = (await add(ada)).json
      const before = await numbers()
      const sent = await Promise.all([send(ada, id), send(grace, id), send(ada, id)])
      expect(sent.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
      expect(sent.find(({ status }) => status === 409)!.json.code).toBe('draft_gone')
      expect([await numbers(), await list(ada)]).toEqual([before + 1, []])
      expect(await actionsOf(id)).toEqual(['bill_draft.removed', 'bill_draft.added'])
      expect((await send(grace, id)).json.code).toBe('draft_gone')
      expect(await numbers()).toBe(before + 1)
    })

    test('is answered again for a call that is repeated', async () => {
      const { id } = (await add(ada)).json
      const [first, again] = [await send(ada, id, 'once'), await send(ada, id, 'once')]
      expect([first.status, again.status, again.json.id]).toEqual([201, 200, first.json.id])
    })

    test('stays if the bill is refused, and takes no number if it is gone', async () => {
      const { id } = (await add(ada)).json
      const refused = await app.call('POST /api/v1/bills', { session: ada, json: { month: '2026-10', draft: id } })
      expect(refused.json.code).toBe('nothing_to_bill')
      expect(await list(ada)).toHaveLength(1)
      const { number } = (await send(ada, undefined)).json
      await remove(grace, id)
      expect((await send(ada, id)).status).toBe(409)
      const next = (await send(ada, undefined)).json.number
      expect(Number(next.slice(-4)) - Number(number.slice(-4))).toBe(1)
    })

    test('is nothing for a token that may send bills', async () => {
      const { id } = (await add(ada)).json
      const json = { month: '2026-10', extra_lines: [{ text: 'Setup', amount: 200 }], draft: id }
      await app.call('PATCH /api/v1/settings', { session: ada, json: { api_tokens: true } })
      for (const token of [
        await app.token('api', undefined, { scopes: ['bills:write'] }),
        await app.token('svc', undefined, { allowBills: true }),
      ]) {
        const { status, json: problem } = await app.call('POST /api/v1/bills', { token, json })
        expect([status, problem.code]).toEqual([403, 'forbidden'])
      }
      expect(await list(ada)).toHaveLength(1)
      await remove(ada, id)
    })
  })

  test('is bounded in size and number', async () => {
    const long = 'x'.repeat(10_001)
    for (const more of [
      { note: long },
      { message: long },
      { tax_name: 'a\u0000' },
      { extra: 1 },
      { deliver_to: [long] },
    ]) {
      expect((await add(ada, { ...FORM, ...more })).status).toBe(422)
    }
    for (let index = 0; index < DRAFTS_LIMIT; index += 1) expect((await add(grace)).status).toBe(201)
    const { status, json } = await add(ada)
    expect([status, json.errors[0].code]).toEqual([422, 'too_many'])
  })
})
