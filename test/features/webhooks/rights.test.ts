/** A webhook is sent nothing that its owner may not read, and nothing once its owner has lost their rights. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import type { NewEvent } from '../../../src/features/events/service.ts'
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from '../../../src/shared/event-types.ts'
import type { Scope } from '../../../src/shared/token-scopes.ts'
import { type Call, PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { billRow } from '../../support/bills.ts'
import { type Receiver, startReceiver } from '../../support/receivers.ts'
import { reportBody } from '../../support/reports.ts'
import { backupFailed, movableClock } from '../../support/webhooks.ts'

const clock = movableClock()
let app: TestApp
/** The call of an admin who keeps all rights. */
let keeper: Call
beforeAll(async () => {
  app = await startApp({ webhookNetworks: ['127.0.0.1'], clock })
  keeper = { session: await app.session('admin') }
  await asKeeper('PATCH /api/v1/settings', { api_tokens: true })
})
afterEach(async () => {
  await app.services.db.write(async (tx) => {
    await tx.delete(tx.tables.webhookDeliveries)
    await tx.delete(tx.tables.webhookEndpoints)
  })
})
afterAll(() => app.close())

async function asKeeper(operation: string, json?: object) {
  const { status, json: answer } = await app.call(operation, { ...keeper, ...(json && { json }) })
  expect(status).toBeLessThan(300)
  return answer
}

/** That of one test. */
async function newReceiver(...args: Parameters<typeof startReceiver>): Promise<Receiver & AsyncDisposable> {
  const receiver = await startReceiver(...args)
  return { ...receiver, [Symbol.asyncDispose]: receiver.close }
}

const deliver = () => app.services.webhooks.dispatcher.deliverDue()
const record = (...events: NewEvent[]) => app.services.db.write((tx) => app.services.events.record(tx, events))
const namesOf = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body).object.name)

const apiToken = async (...scopes: Scope[]): Promise<Call> => ({
  token: await app.token('api', undefined, { scopes: ['webhooks:manage', ...scopes] }),
})

async function add(call: Call, json: { url: string; types?: string[]; format?: string }) {
  const answer = await app.call('POST /api/v1/webhooks', { ...call, json: { name: 'Hook', types: ['*'], ...json } })
  expect(answer.status).toBe(201)
  return answer.json as { id: string; secret: string }
}

const webhook = (id: string) => asKeeper(`GET /api/v1/webhooks/${id}`)
const takeOver = (id: string, call = keeper) => app.call(`POST /api/v1/webhooks/${id}/take-over`, call)

/** What a member may not see of others: an entry, a budget and a bill, of which chats say more than their events do. */
async function addObjects() {
  const { json: entry } = await app.call('POST /api/v1/token-entries', {
    token: await app.token('svc'),
    json: reportBody({ model: 'the-model', session_id: crypto.randomUUID() }),
  })
  const client = await asKeeper('POST /api/v1/clients', { name: `The client ${crypto.randomUUID()}` })
  const scope = { client: client.id }
  const budget = await asKeeper('POST /api/v1/budgets', { name: 'A budget', amount: 1, scope, thresholds: [] })
  const { db } = app.services
  const bill = billRow({ subtotal: 123_456n, total: 123_456n })
  await db.write(async (tx) => void (await tx.insert(tx.tables.bills).values(bill)))
  const { entries } = db.read.tables
  const [row] = await db.read.select({ id: entries.id }).from(entries).where(eq(entries.uid, entry.id))
  return { entryId: row!.id, budget: budget.id as string, bill: bill.uid as string }
}

/** An event of each type. */
async function recordEveryType(): Promise<void> {
  const { entryId, budget, bill } = await addObjects()
  const eventOf = (type: EventType): NewEvent => {
    if (EVENT_TYPES[type].audience === 'entries' && type !== 'entry.removed') return { type, entryId }
    const id = type.startsWith('bill.') ? bill : type.startsWith('budget.') ? budget : 'x'
    const after = { measure: 'cost', percent: 80, period: null, spent: 80, available: 100, subject: 'day', day: 'x' }
    return { type, object: { id, name: type }, after }
  }
  await record(...EVENT_TYPE_NAMES.map(eventOf))
}

const position = async (): Promise<string> => (await asKeeper('GET /api/v1/events?after=now')).next_after

/** Ids of what a credential reads after a position. */
async function shownTo(call: Call, after: string): Promise<string[]> {
  const { status, json } = await app.call(`GET /api/v1/events?after=${after}&limit=1000`, call)
  return status === 200 ? json.data.map(({ id }: { id: string }) => id) : []
}

/** By what a credential may do: everything as a signed-in admin, or what the scopes of an API token allow. */
const CREDENTIALS: Record<string, () => Promise<Call>> = {
  'a signed-in admin': async () => ({ session: await app.session('admin') }),
  'a token that only manages webhooks': () => apiToken(),
  'a token that reads events': () => apiToken('events:read'),
  'a token that reads events and the audit log': () => apiToken('events:read', 'audit:read'),
  'a token that reads anything but events': () =>
    apiToken('audit:read', 'people:read', 'bills:read', 'entries:read', 'budgets:read'),
}

describe('A webhook', () => {
  test.each(Object.keys(CREDENTIALS))('of %s is sent what GET /events shows it, and no more', async (name) => {
    await using receiver = await newReceiver()
    const call = await CREDENTIALS[name]!()
    const json = { name, url: receiver.url, types: ['*'] }
    const added = await app.call('POST /api/v1/webhooks', { ...call, json })
    if (added.status === 201) await deliver()
    const before = receiver.received.length
    const after = await position()
    await recordEveryType()
    await deliver()
    const sent = receiver.received.slice(before).map(({ body }) => JSON.parse(body).id)
    const shown = await shownTo(call, after)
    expect(sent).toEqual(shown)
    expect(added.status).toBe(shown.length > 0 ? 201 : 422)
  })

  test('of a chat is told of entries, budgets and bills what its token may read of them', async () => {
    const told: Record<string, RegExp> = {
      'entries:read': /the-model/,
      'budgets:read': /The client/,
      'bills:read': /1234\.56/,
    }
    for (const scope of [undefined, ...(Object.keys(told) as Scope[])]) {
      await using receiver = await newReceiver()
      const call = await apiToken('events:read', ...(scope ? [scope] : []))
      await add(call, {
        url: receiver.url,
        format: 'chat',
        types: ['entry.approved', 'budget.changed', 'bill.sent'],
      })
      await recordEveryType()
      await deliver()
      const texts = receiver.received.map(({ body }) => body).join()
      for (const [needed, text] of Object.entries(told)) {
        expect(`${needed}: ${text.test(texts)}`).toBe(`${needed}: ${needed === scope}`)
      }
    }
  })

  test('is refused with types that a token may not read, and says which scope is missing', async () => {
    const issues = async (call: Call, ...types: string[]) => {
      const json = { name: 'Hook', url: 'https://hooks.example.com/', types }
      const answer = await app.call('POST /api/v1/webhooks', { ...call, json })
      expect(answer.status).toBe(422)
      return answer.json.errors.map(({ pointer, message }: Record<string, string>) => `${pointer} ${message}`)
    }
    const lacks = "which the API token 'test' does not have"
    expect(await issues(await apiToken(), '*')).toEqual([`/types/0 needs the scope events:read, ${lacks}`])
    expect(await issues(await apiToken('events:read'), 'bill.*', 'user.*', 'token.revoked', '*')).toEqual([
      `/types/1 needs the scopes events:read and audit:read, ${lacks}`,
      `/types/2 needs the scopes events:read and audit:read, ${lacks}`,
    ])
  })

  test('shows what was sent to those who may read it', async () => {
    await using receiver = await newReceiver()
    const call = { session: await app.session('admin') }
    const [standard, chat] = [
      await add(call, { url: receiver.url }),
      await add(call, { url: receiver.url, format: 'chat' }),
    ]
    const readers = await Promise.all(Object.values(CREDENTIALS).map((credential) => credential()))
    const ofEntries = await apiToken('events:read', 'entries:read')
    await deliver()
    const after = await position()
    await recordEveryType()
    await deliver()
    const deliveriesTo = async ({ id }: { id: string }, who: Call) => {
      const { json } = await app.call(`GET /api/v1/webhooks/${id}/deliveries?limit=1000`, who)
      expect(json.data.length).toBeGreaterThan(EVENT_TYPE_NAMES.length)
      for (const { body, response, hidden } of json.data) {
        expect(hidden).toBe(body === '')
        if (hidden) expect(response).toBe('')
      }
      const bodies: { event: string; type: string; body: string }[] = json.data
      return bodies
        .filter(({ event, body }) => Number(event.slice(4)) > Number(after.slice(4)) && body !== '')
        .reverse()
    }
    const idsOf = (deliveries: { event: string }[]) => deliveries.map(({ event }) => event)
    for (const who of readers) {
      expect(idsOf(await deliveriesTo(standard, who))).toEqual(await shownTo(who, after))
    }
    expect(idsOf(await deliveriesTo(chat, keeper))).toEqual(await shownTo(keeper, after))
    const told = await deliveriesTo(chat, ofEntries)
    expect(new Set(told.map(({ type }) => type.split('.')[0]))).not.toContain('bill')
    expect(JSON.stringify(told)).toContain('the-model')
  })

  describe('that is sent more than a token may read', () => {
    const ACTS: Record<string, (id: string) => [operation: string, json?: object]> = {
      'is not sent elsewhere by it': (id) => [`PATCH /api/v1/webhooks/${id}`, { url: 'https://evil.example.com/' }],
      'does not get other types by it': (id) => [`PATCH /api/v1/webhooks/${id}`, { types: ['bill.*'] }],
      'does not get another format by it': (id) => [`PATCH /api/v1/webhooks/${id}`, { format: 'slack' }],
      'does not show it a new secret': (id) => [`POST /api/v1/webhooks/${id}/rotate-secret`, {}],
      'is not enabled by it': (id) => [`POST /api/v1/webhooks/${id}/enable`, { send_missed: true }],
      'is sent nothing again by it': (id) => [
        `POST /api/v1/webhooks/${id}/resend-since`,
        { since: '2026-01-01T00:00:00Z' },
      ],
      'is sent no event again by it': (id) => [`POST /api/v1/webhooks/${id}/deliveries/evt_1/resend`],
      'is not taken over by it': (id) => [`POST /api/v1/webhooks/${id}/take-over`],
    }
    test.each(Object.keys(ACTS))('%s', async (act) => {
      await using receiver = await newReceiver()
      const { id } = await add(keeper, { url: receiver.url, format: 'chat' })
      await deliver()
      const before = { ...(await webhook(id)), last_delivery: null }
      const from = receiver.received.length
      const [operation, json] = ACTS[act]!(id)
      const full: Scope[] = ['events:read', 'audit:read', 'entries:read', 'bills:read', 'budgets:read']
      for (const scopes of [[], ...full.map((missing) => full.filter((scope) => scope !== missing))]) {
        const call = await apiToken(...scopes)
        const { status, json: problem } = await app.call(operation, { ...call, ...(json && { json }) })
        expect(`${scopes}: ${status}`).toBe(`${scopes}: 403`)
        expect(problem.detail).toContain("events that the API token 'test' may not read, such as ")
      }
      await deliver()
      expect({ ...(await webhook(id)), last_delivery: null }).toEqual(before)
      const sent = receiver.received.slice(from).map(({ body }) => JSON.parse(body).text.split(' ')[0])
      expect(new Set(sent)).toEqual(new Set(['User', 'Token']))
      const allowed = await app.call(operation, { ...(await apiToken(...full)), ...(json && { json }) })
      expect(allowed.status).toBe(200)
    })

    test('is changed by a token that reads its events, unless chats would be told more', async () => {
      const { id } = await add(keeper, { url: 'https://hooks.example.com/', types: ['entry.*', 'backup.*'] })
      const call = await apiToken('events:read', 'audit:read')
      const change = (json: object) => app.call(`PATCH /api/v1/webhooks/${id}`, { ...call, json })
      expect((await change({ types: ['entry.*'] })).status).toBe(200)
      const refused = await change({ format: 'chat' })
      expect(refused.status).toBe(403)
      expect(refused.json.detail).toContain('Use a token with the scopes events:read and entries:read, or sign in.')
      expect(await webhook(id)).toMatchObject({ types: ['entry.*'], format: 'standard', owner: { token: null } })
    })

    test('is tested, disabled and removed by it, which sends nothing of it to anybody', async () => {
      await using receiver = await newReceiver()
      const { id } = await add(keeper, { url: receiver.url, types: ['backup.*'] })
      const call = await apiToken()
      expect((await app.call(`POST /api/v1/webhooks/${id}/test`, call)).json).toMatchObject({ delivered: true })
      expect((await app.call(`POST /api/v1/webhooks/${id}/disable`, call)).json.state).toBe('disabled')
      expect((await app.call(`DELETE /api/v1/webhooks/${id}`, call)).status).toBe(204)
    })
  })

  test('of a token has its rights, also after an admin has changed it', async () => {
    await using receiver = await newReceiver()
    const { id } = await add(await apiToken('events:read'), { url: receiver.url })
    await asKeeper(`PATCH /api/v1/webhooks/${id}`, { name: 'Renamed' })
    const refused = await app.call(`PATCH /api/v1/webhooks/${id}`, { ...keeper, json: { types: ['user.*'] } })
    expect(refused.json.errors[0].message).toContain('needs the scopes events:read and audit:read')
    const { data } = await asKeeper('GET /api/v1/events?types=user.added&limit=1')
    expect((await app.call(`POST /api/v1/webhooks/${id}/deliveries/${data[0].id}/resend`, keeper)).status).toBe(404)
    await record(backupFailed('hidden'), { type: 'client.added', object: { id: 'x', name: 'shown' } })
    await deliver()
    expect(namesOf(receiver)).toEqual(['shown'])
    expect((await takeOver(id)).json).toMatchObject({ owner: { token: null } })
    await record(backupFailed('shown, too'))
    await deliver()
    expect(namesOf(receiver)).toEqual(['shown', 'Renamed', 'shown, too'])
  })
})

interface Owner {
  call: Call
  email: string
  tokenId: string | undefined
}

async function newOwner(kind: 'person' | 'token'): Promise<Owner> {
  const email = await app.person('admin', { password: true })
  const { people } = app.services
  if (kind === 'person') {
    const { secret } = await people.signIn({ email, password: PASSWORD, address: '::1' })
    return { call: { session: `tally_session=${secret}` }, email, tokenId: undefined }
  }
  const scopes: Scope[] = ['webhooks:manage', 'events:read', 'audit:read']
  const { token, secret } = await people.createToken({ kind: 'api', user: email, name: 'script', scopes }, TALLY)
  return { call: { token: secret }, email, tokenId: token.uid }
}

interface Way {
  owner: 'person' | 'token'
  reason: string
  lose(owner: Owner): Promise<unknown>
  /** Undefined if the rights are lost for good. */
  restore?(owner: Owner): Promise<unknown>
}

const DAY_MS = 86_400_000

/** Each way to lose the rights of an owner. */
const WAYS: Record<string, Way> = {
  'its person is disabled': {
    owner: 'person',
    reason: 'owner_disabled',
    lose: ({ email }) => asKeeper(`POST /api/v1/users/${email}/disable`),
    restore: ({ email }) => asKeeper(`POST /api/v1/users/${email}/enable`),
  },
  'its person is no longer an admin': {
    owner: 'person',
    reason: 'owner_role',
    lose: ({ email }) => asKeeper(`PATCH /api/v1/users/${email}`, { role: 'billing' }),
    restore: ({ email }) => asKeeper(`PATCH /api/v1/users/${email}`, { role: 'admin' }),
  },
  'its token is revoked': {
    owner: 'token',
    reason: 'token_revoked',
    lose: ({ tokenId }) => asKeeper(`POST /api/v1/tokens/${tokenId}/revoke`),
  },
  'its token expires': {
    owner: 'token',
    reason: 'token_expired',
    lose: async () => clock.wait(100 * DAY_MS),
    restore: async () => clock.wait(-100 * DAY_MS),
  },
  'the person of its token is disabled': {
    owner: 'token',
    reason: 'owner_disabled',
    lose: ({ email }) => asKeeper(`POST /api/v1/users/${email}/disable`),
    restore: ({ email }) => asKeeper(`POST /api/v1/users/${email}/enable`),
  },
  'the person of its token is no longer an admin': {
    owner: 'token',
    reason: 'owner_role',
    lose: ({ email }) => asKeeper(`PATCH /api/v1/users/${email}`, { role: 'member' }),
    restore: ({ email }) => asKeeper(`PATCH /api/v1/users/${email}`, { role: 'admin' }),
  },
  'API tokens are turned off': {
    owner: 'token',
    reason: 'api_tokens_off',
    lose: () => asKeeper('PATCH /api/v1/settings', { api_tokens: false }),
    restore: () => asKeeper('PATCH /api/v1/settings', { api_tokens: true }),
  },
}

describe('Of a suspended webhook', () => {
  test.each(Object.keys(WAYS))(
    'nothing is sent once %s, and then everything that waited, once and in order',
    async (way) => {
      await using receiver = await newReceiver()
      const { owner: kind, reason, lose, restore } = WAYS[way]!
      const owner = await newOwner(kind)
      const { id } = await add(owner.call, { url: receiver.url, types: ['backup.*'] })
      await record(backupFailed('one'))
      await deliver()
      await lose(owner)
      keeper = { session: await app.session('admin') }
      await record(backupFailed('two'), backupFailed('three'))
      await deliver()
      expect(namesOf(receiver)).toEqual(['one'])
      const suspended = await webhook(id)
      expect(suspended).toMatchObject({ state: 'suspended', suspended_reason: reason, owner: { user: {} } })
      expect((await asKeeper('GET /api/v1/webhooks?failing=true')).data.map((one: { id: string }) => one.id)).toEqual([
        id,
      ])

      const { data } = await asKeeper('GET /api/v1/events?types=backup.failed&limit=1000')
      for (const [path, json] of [[`deliveries/${data.at(-1).id}/resend`], ['resend-since', { since: '2026-01-01' }]]) {
        const refused = await app.call(`POST /api/v1/webhooks/${id}/${path}`, { ...keeper, ...(json && { json }) })
        expect(refused).toMatchObject({ status: 409, json: { code: 'webhook_suspended' } })
        expect(refused.json.detail).toContain(`tally webhooks take-over ${id}`)
      }
      expect(namesOf(receiver)).toEqual(['one'])

      if (restore) {
        await restore(owner)
        await deliver()
        expect(await webhook(id)).toMatchObject({ state: 'active', suspended_reason: null })
        expect(namesOf(receiver)).toEqual(['one', 'two', 'three'])
        await lose(owner)
        keeper = { session: await app.session('admin') }
      }
      const sent = namesOf(receiver)
      await record(backupFailed('four'), backupFailed('five'))
      await deliver()
      expect(namesOf(receiver)).toEqual(sent)
      const { status, json } = await takeOver(id)
      expect(status).toBe(200)
      expect(json).toMatchObject({ state: 'active', owner: { token: null } })
      await deliver()
      await deliver()
      expect(namesOf(receiver)).toEqual(['one', 'two', 'three', 'four', 'five'])

      const audit = await asKeeper(`GET /api/v1/audit?object=${id}`)
      const actions = audit.data.map(({ action }: { action: string }) => action.replace('webhook.', ''))
      const again = restore ? ['suspended', 'resumed'] : []
      expect(actions).toEqual(['taken_over', 'suspended', ...again.toReversed(), 'added'])
      expect(audit.data[0].after).toMatchObject({ suspended: false, owner: expect.any(String) })
      expect(audit.data[1].after).toEqual({ reason })
      await restore?.(owner)
    },
  )

  test('no more is sent of a page of events in the middle of which its token is revoked', async () => {
    const owner = await newOwner('token')
    await using receiver = await newReceiver((_request, response) => {
      const isSecond = receiver.received.length === 2
      const revoked = isSecond ? asKeeper(`POST /api/v1/tokens/${owner.tokenId}/revoke`) : undefined
      Promise.resolve(revoked).finally(() => response.end())
    })
    const { id } = await add(owner.call, { url: receiver.url, types: ['backup.*'] })
    const names = Array.from({ length: 20 }, (_, at) => String(at))
    await record(...names.map(backupFailed))
    await deliver()
    expect(namesOf(receiver)).toEqual(['0', '1'])
    const [one, two] = [await takeOver(id), await takeOver(id)]
    expect([one.status, two.status]).toEqual([200, 200])
    await deliver()
    expect(namesOf(receiver)).toEqual(names)
    const audit = await asKeeper(`GET /api/v1/audit?object=${id}&action=webhook.taken_over`)
    expect(audit.data).toHaveLength(1)
  })

  test('whose address a token has changed, nothing is sent there once the token is revoked', async () => {
    await using receiver = await newReceiver()
    await using elsewhere = await newReceiver()
    const { id } = await add(keeper, { url: receiver.url, types: ['backup.*'] })
    const owner = await newOwner('token')
    const changed = await app.call(`PATCH /api/v1/webhooks/${id}`, { ...owner.call, json: { url: elsewhere.url } })
    expect(changed.json).toMatchObject({ owner: { token: { id: owner.tokenId } } })
    await record(backupFailed('one'))
    await deliver()
    await asKeeper(`POST /api/v1/tokens/${owner.tokenId}/revoke`)
    await record(backupFailed('two'))
    await deliver()
    expect(await webhook(id)).toMatchObject({ state: 'suspended', suspended_reason: 'token_revoked' })
    const back = await asKeeper(`PATCH /api/v1/webhooks/${id}`, { url: receiver.url })
    expect(back).toMatchObject({ state: 'active', owner: { token: null } })
    await deliver()
    expect([namesOf(elsewhere), namesOf(receiver)]).toEqual([['one'], ['two']])
    const unchanged = await asKeeper(`PATCH /api/v1/webhooks/${id}`, { url: receiver.url, name: 'The same' })
    expect(unchanged.owner).toEqual(back.owner)
  })

  test('the events wait for a token that may read them', async () => {
    await using receiver = await newReceiver()
    const owner = await newOwner('token')
    const { id } = await add(owner.call, { url: receiver.url, types: ['backup.*', 'bill.*'] })
    await asKeeper(`POST /api/v1/tokens/${owner.tokenId}/revoke`)
    await record(backupFailed('one'))
    await deliver()
    expect((await takeOver(id, await apiToken('events:read', 'bills:read', 'budgets:read'))).status).toBe(403)
    const call = await apiToken('events:read', 'audit:read')
    const taken = await takeOver(id, call)
    expect(taken.json).toMatchObject({ state: 'active', owner: { token: { name: 'test' } } })
    await deliver()
    expect(namesOf(receiver)).toEqual(['one'])
  })
})
