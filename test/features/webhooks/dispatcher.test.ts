/** The delivery of events: what arrives, in which order, how often, and what happens if it does not. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { GIVE_UP_MS } from '../../../src/features/webhooks/schedule.ts'
import { newId } from '../../../src/lib/id.ts'
import { forEachEngine } from '../../support/databases.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { type Received, type Receiver, startReceiver } from '../../support/receivers.ts'
import { backupFailed, movableClock, OPERATOR, type Sending, sendingOn } from '../../support/webhooks.ts'

const MINUTE = 60_000

/** A body that ends only with the connection. */
function sendEndlessly(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, 'a')
  const more = () => {
    while (!response.destroyed) if (!response.write(chunk)) return void response.once('drain', more)
  }
  more()
}

forEachEngine('webhooks', (open) => {
  let db: Database
  let sending: Sending
  const closing: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    db = await open()
    sending = sendingOn(db)
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  async function receiver(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
    const started = await startReceiver(...args)
    closing.push(started.close)
    return started
  }

  /** Answers with each status in turn, and with the last one from then on. */
  const receiverOf = (...statuses: number[]) => {
    let answers = 0
    return receiver((_request, response) => {
      response.writeHead(statuses[Math.min(answers++, statuses.length - 1)]!).end()
    })
  }
  const namesOf = (received: Received[]) => received.map(({ body }) => JSON.parse(body).object.name)
  const stateOf = async (id: string) => sending.services.webhooks.getWebhook(id)
  const deliveriesOf = async (id: string) =>
    (await sending.services.webhooks.listDeliveries(id, { after: undefined, limit: 100 }, OPERATOR)).data

  test('deliver events in order, signed, each with its own id', async () => {
    const { url, received } = await receiver()
    const { id, secret } = await sending.add({ url })
    await sending.record(backupFailed('one'), backupFailed('two'))
    await sending.record(backupFailed('three'))
    await sending.deliver()
    expect(namesOf(received)).toEqual(['Hook', 'one', 'two', 'three'])
    for (const { headers, body } of received) {
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: headers['webhook-id'] })
    }
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(received.length)
    expect(await stateOf(id)).toMatchObject({ state: 'active', last_delivery: { delivered: true, status: 200 } })
    await sending.deliver()
    expect(received).toHaveLength(4)
  })

  test('deliver only the types that an endpoint selects, and only events after it was added', async () => {
    const { url, received } = await receiver()
    await sending.record(backupFailed('before'))
    await sending.add({ url, types: ['backup.failed', 'user.*'] })
    await sending.record(
      { type: 'bill.sent', object: { id: 'bil_x', name: 'x' } },
      backupFailed('yes'),
      { type: 'user.added', object: { id: 'usr_1', name: 'Ada' } },
      { type: 'project.added', object: { id: 'prj_1', name: 'x' } },
    )
    await sending.deliver()
    expect(namesOf(received)).toEqual(['yes', 'Ada'])
  })

  test('deliver only events of their project, or of the projects and bills of their client', async () => {
    const { projects } = sending.services
    const party = { viewer: { sees: 'everything' } as never, person: null, by: TALLY }
    const client = await projects.addClient(party, { name: 'Acme' })
    await projects.addProject(party, { key: 'WEB', name: 'Web', client: client.uid })
    await projects.addProject(party, { key: 'OTHER', name: 'Other' })
    const [web, other] = await Promise.all(
      ['WEB', 'OTHER'].map(async (key) => (await projects.findProjectNamed(db.read, key))!.project),
    )
    const [ofProject, ofClient] = [await receiver(), await receiver()]
    await sending.add({ url: ofProject.url, project: 'OTHER' })
    await sending.add({ url: ofClient.url, client: 'Acme' })
    const budget = (name: string, projectId: number | null) =>
      ({ type: 'budget.changed', object: { id: 'bud_1', name }, projectId }) as const
    await sending.record(
      budget('web', web!.id),
      budget('other', other!.id),
      budget('none', null),
      { type: 'project.changed', object: { id: web!.uid, name: 'Web itself' } },
      { type: 'client.changed', object: { id: client.uid, name: 'Acme itself' } },
      { type: 'project.changed', object: { id: other!.uid, name: 'Other itself' } },
    )
    await sending.deliver()
    expect(namesOf(ofProject.received)).toEqual(['other', 'Other itself'])
    expect(namesOf(ofClient.received)).toEqual(['web', 'Web itself', 'Acme itself'])
  })

  test('deliver alerts of budgets to the endpoints that these name, whatever they select', async () => {
    const [named, other] = [await receiver(), await receiver()]
    const { id } = await sending.add({ url: named.url, types: ['backup.failed'] })
    await sending.add({ url: other.url, types: ['backup.failed'] })
    await sending.record(
      // How it is set up is nothing that the endpoint has asked for.
      { type: 'budget.added', object: { id: 'bdg_1', name: 'Added' }, after: { thresholds: [{ webhooks: [id] }] } },
      { type: 'budget.threshold_crossed', object: { id: 'bdg_1', name: 'Web' }, after: { webhooks: [id] } },
    )
    await sending.deliver()
    expect(namesOf(named.received)).toEqual(['Web'])
    expect(other.received).toEqual([])
  })

  test('deliver to a chat what happened to a budget that is gone since', async () => {
    const { url, received } = await receiver()
    await sending.add({ url, format: 'chat', types: ['budget.*'] })
    const after = { measure: 'cost', percent: 80, period: null, spent: 80, available: 100 }
    await sending.record({ type: 'budget.threshold_crossed', object: { id: newId('bdg'), name: 'Web' }, after })
    await sending.deliver()
    expect(received.map(({ body }) => JSON.parse(body).text.split('\n').slice(0, 2))).toEqual([
      ['Budget Web: 80% reached', 'spent: $80.00 of $100.00'],
    ])
  })

  test('link in chats to the entries that an event lists', async () => {
    const { url, received } = await receiver()
    await sending.add({ url, format: 'chat', types: ['digest.*', 'usage.*'] })
    const list = '/api/v1/token-entries?status=approved&status=billed&agent_manager=usr_1'
    const after = { subject: 'day', day: '2026-11-23', cost: 80, usual: 20, list }
    await sending.record(
      { type: 'digest.unpriced', after: { day: '2026-11-23', entries: 2, list } },
      { type: 'usage.anomaly_found', after },
      { type: 'usage.anomaly_found', after: { ...after, list: null } },
    )
    await sending.deliver()
    const page = 'https://tally.example.com/entries?status=approved&status=billed&agent_manager=usr_1'
    expect(received.map(({ body }) => JSON.parse(body).text.split('\n'))).toEqual([
      ['Digest unpriced', 'day: 2026-11-23', 'entries: 2', page],
      ['Unusual usage: 2026-11-23', 'cost: $80.00', 'usually: $20.00', page],
      ['Unusual usage: 2026-11-23', 'cost: $80.00', 'usually: $20.00'],
    ])
  })

  test('repeat a failed attempt with the same id, and hold back later events meanwhile', async () => {
    const { url, received } = await receiverOf(500, 503, 200)
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'))
    await sending.deliver()
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one'])
    expect(await stateOf(id)).toMatchObject({ state: 'failing', last_delivery: { delivered: false, status: 500 } })
    sending.wait(7_000)
    await sending.deliver()
    sending.wait(7_000)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one', 'one'])
    sending.wait(6 * MINUTE)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one', 'one', 'one', 'two'])
    const ids = received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(ids[3]).not.toBe(ids[0])
    expect(await stateOf(id)).toMatchObject({ state: 'active', failing_since: null })
    expect((await deliveriesOf(id)).map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 200],
      [3, 200],
      [2, 503],
      [1, 500],
    ])
  })

  test('are repeated with one id, and in order, to a receiver that fails in every way before it works', async () => {
    const failures: Record<string, (response: ServerResponse) => unknown> = {
      'closes the connection': ({ socket }) => socket!.destroy(),
      'closes it within its headers': ({ socket }) => socket!.end('HTTP/1.1 20'),
      'speaks another protocol': ({ socket }) => socket!.end('220 mail.example.com ESMTP\r\n'),
      'sends headers without an end': ({ socket }) => socket!.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`),
      redirects: (response) => response.writeHead(302, { location: '/hook' }).end(),
      'fails with an endless page': (response) => sendEndlessly(response.writeHead(500)),
      'is overloaded': (response) => response.writeHead(429, { 'retry-after': '1' }).end(),
    }
    const answers = [...Object.values(failures), (response: ServerResponse) => sendEndlessly(response.writeHead(200))]
    const { url, received } = await receiver((_request, response) => {
      const answer = answers[received.length - 1]
      if (answer) answer(response)
      else response.end()
    })
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'))
    const failed: boolean[] = []
    for (const _ of Object.keys(failures)) {
      await sending.deliver()
      const { last_delivery, next_attempt_at } = await stateOf(id)
      failed.push(!last_delivery!.delivered)
      sending.wait(Date.parse(next_attempt_at!) - sending.clock.now())
    }
    expect(failed).toEqual(Object.keys(failures).map(() => true))
    await sending.deliver()
    expect(namesOf(received)).toEqual([...failed.map(() => 'one'), 'one', 'two'])
    const ids = received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids.slice(0, -1)).size).toBe(1)
    expect(ids.at(-1)).not.toBe(ids[0])
    expect(await stateOf(id)).toMatchObject({ state: 'active', failing_since: null })
  })

  test('of one endpoint do not wait for those of another that does not respond', async () => {
    const stalled = await receiver(() => {})
    const quick = await receiver()
    await sending.add({ url: stalled.url })
    await sending.add({ url: quick.url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'))
    const delivering = sending.deliver()
    expect(namesOf(await quick.until(({ length }) => length === 2))).toEqual(['one', 'two'])
    await stalled.until(({ length }) => length === 1)
    await stalled.close()
    await delivering
  })

  test('are disabled after three days of failures, which the creator and the admins learn by e-mail', async () => {
    const mailServer = await startMailServer()
    closing.push(mailServer.close)
    sending = sendingOn(db, { mail: { ...mailServer.address, from: 'tally@example.com' } })
    const { people, webhooks, audit } = sending.services
    const admin = await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
    await people.addUser({ email: 'grace@example.com', name: 'Grace', role: 'admin' }, TALLY)
    await people.addUser({ email: 'alan@example.com', name: 'Alan', role: 'member' }, TALLY)
    const { url, received } = await receiverOf(500)
    const { id } = await sending.add({ url, types: ['backup.*'] }, { ...TALLY, userId: admin.id })
    const since = sending.clock.now()
    await sending.record(backupFailed('one'))
    for (;;) {
      await sending.deliver()
      const { next_attempt_at } = await stateOf(id)
      if (next_attempt_at === null) break
      sending.wait(Date.parse(next_attempt_at) - sending.clock.now())
    }
    expect(sending.clock.now() - since).toBeGreaterThanOrEqual(GIVE_UP_MS)
    expect(received.length).toBeGreaterThanOrEqual(9)
    expect(received.length).toBeLessThanOrEqual(11)
    expect(await stateOf(id)).toMatchObject({ disabled_reason: 'failing', next_attempt_at: null })
    await webhooks.dispatcher.sendNotices()
    await webhooks.dispatcher.sendNotices()
    expect(mailServer.letters.flatMap(({ to }) => to).sort()).toEqual(['ada@example.com', 'grace@example.com'])
    expect(mailServer.letters[0]!.text).toContain(`tally webhooks enable ${id}`)
    expect(mailServer.letters[0]!.text).not.toContain('/hook')
    const { data } = await audit.listChanges({ filter: {}, limit: 1, after: undefined })
    expect(data[0]).toMatchObject({
      action: 'webhook.disabled',
      objectId: id,
      after: { reason: 'failing', status: 500 },
    })
    const events = await db.read.select().from(db.read.tables.events)
    expect(events.at(-1)).toMatchObject({ type: 'webhook.disabled', objectId: id })
  })

  test('are disabled at once by a 410', async () => {
    const { url, received } = await receiverOf(410)
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'))
    await sending.deliver()
    expect(await stateOf(id)).toMatchObject({ state: 'disabled', disabled_reason: 'gone' })
    sending.wait(24 * 60 * MINUTE)
    await sending.deliver()
    expect(received).toHaveLength(1)
  })

  test('that are disabled get nothing; enabled again, they get later events, and on request those that they missed', async () => {
    const { url, received } = await receiver()
    const { webhooks } = sending.services
    const { id } = await sending.add({ url, types: ['backup.*'] })
    const missing = async (name: string) => {
      await webhooks.disableWebhook(id, OPERATOR)
      await sending.record(backupFailed(name))
      await sending.deliver()
    }
    await missing('skipped')
    expect(received).toEqual([])
    const since = new Date(sending.clock.now() - MINUTE).toISOString()
    expect(await webhooks.resendSince(id, since, OPERATOR).catch((error) => error.code)).toBe('webhook_disabled')
    await webhooks.enableWebhook(id, {}, OPERATOR)
    await sending.record(backupFailed('later'))
    await sending.deliver()
    expect(namesOf(received)).toEqual(['later'])
    await missing('missed')
    await webhooks.enableWebhook(id, { sendMissed: true }, OPERATOR)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['later', 'missed'])
  })

  test('get the event whose delivery failed first, when they are enabled with what they missed', async () => {
    const { url, received } = await receiverOf(410, 200)
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'))
    await sending.deliver()
    await sending.services.webhooks.enableWebhook(id, { sendMissed: true }, OPERATOR)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one', 'one', 'two'])
  })

  test('are sent all events since a time again, in order and with their ids', async () => {
    const { url, received } = await receiver()
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('before'))
    sending.wait(10 * MINUTE)
    const since = new Date(sending.clock.now()).toISOString()
    await sending.record(backupFailed('one'), backupFailed('two'))
    await sending.deliver()
    await sending.services.webhooks.resendSince(id, since, OPERATOR)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['before', 'one', 'two', 'one', 'two'])
    expect(received[3]!.headers['webhook-id']).toBe(received[1]!.headers['webhook-id'])
  })

  test('are signed with both secrets during a rotation, and with the new one alone afterwards', async () => {
    const { url, received } = await receiver()
    const { id, secret: old } = await sending.add({ url, types: ['backup.*'] })
    const rotated = await sending.services.webhooks.rotateSecret(id, { overlapHours: 2 }, OPERATOR)
    expect(rotated.previous_secret_until).not.toBeNull()
    await sending.record(backupFailed('one'))
    await sending.deliver()
    for (const secret of [old, rotated.secret]) {
      expect(new Webhook(secret).verify(received[0]!.body, received[0]!.headers)).toBeDefined()
    }
    // Not further than a receiver lets the time of a message differ from its own.
    await db.write(async (tx) => {
      await tx.update(tx.tables.webhookEndpoints).set({ previousUntil: sending.clock.now() - 1 })
    })
    await sending.record(backupFailed('two'))
    await sending.deliver()
    expect(new Webhook(rotated.secret).verify(received[1]!.body, received[1]!.headers)).toBeDefined()
    expect(() => new Webhook(old).verify(received[1]!.body, received[1]!.headers)).toThrow()
    expect((await stateOf(id)).previous_secret_until).toBeNull()
    const last = await sending.services.webhooks.rotateSecret(id, { overlapHours: 0 }, OPERATOR)
    expect(last.previous_secret_until).toBeNull()
  })

  test('with a new address are tried again at once', async () => {
    const broken = await receiverOf(500)
    const working = await receiver()
    const { id } = await sending.add({ url: broken.url, types: ['backup.*'] })
    await sending.record(backupFailed('one'))
    await sending.deliver()
    await sending.services.webhooks.changeWebhook(id, { url: working.url }, OPERATOR)
    await sending.deliver()
    expect(namesOf(working.received)).toEqual(['one'])
    expect(await stateOf(id)).toMatchObject({ state: 'active' })
  })

  test('that are changed during a delivery use the new address for the next event', async () => {
    const working = await receiver()
    const first = await receiver((_request, response) => {
      sending.services.webhooks.changeWebhook(id, { url: working.url }, OPERATOR).finally(() => response.end())
    })
    const { id } = await sending.add({ url: first.url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'))
    await sending.deliver()
    expect(namesOf(first.received)).toEqual(['one'])
    expect(namesOf(working.received)).toEqual(['two'])
  })

  test('that are sent everything again during a delivery begin again after it', async () => {
    const since = new Date(sending.clock.now() - MINUTE).toISOString()
    const { url, received } = await receiver((_request, response) => {
      const again = received.length === 2 ? sending.services.webhooks.resendSince(id, since, OPERATOR) : undefined
      Promise.resolve(again).finally(() => response.end())
    })
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'), backupFailed('three'))
    await sending.deliver()
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one', 'two', 'one', 'two', 'three'])
  })

  test('that are removed during a delivery leave no trace and get nothing more', async () => {
    const { url, received } = await receiver((_request, response) => {
      sending.services.webhooks.removeWebhook(id, TALLY).finally(() => response.end())
    })
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'), backupFailed('two'))
    await sending.deliver()
    expect(received).toHaveLength(1)
    expect(await db.read.select().from(db.read.tables.webhookDeliveries)).toEqual([])
  })

  test('read many waiting events in pages', async () => {
    const { url, received } = await receiver()
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(...Array.from({ length: 250 }, (_, at) => backupFailed(String(at))))
    expect(await sending.services.webhooks.countWaiting()).toBe(250)
    await sending.deliver()
    expect(namesOf(received)).toEqual(Array.from({ length: 250 }, (_, at) => String(at)))
    expect(await sending.services.webhooks.countWaiting()).toBe(0)
    expect(await deliveriesOf(id)).toHaveLength(100)
  })

  test('keep 500 deliveries of an endpoint, and none for more than a week', async () => {
    const { url } = await receiver()
    const { id } = await sending.add({ url, types: ['backup.*'] })
    const row = { eventId: 1, type: 'backup.failed', kind: 'event', attempt: 1, latencyMs: 1, status: 200 } as const
    await db.write(async (tx) => {
      const [endpoint] = await tx.select().from(tx.tables.webhookEndpoints)
      const rows = Array.from({ length: 600 }, () => ({
        ...{ ...row, endpointId: endpoint!.id, at: sending.clock.now(), body: '{}', response: '', error: null },
      }))
      await tx.insert(tx.tables.webhookDeliveries).values(rows)
    })
    await sending.record(backupFailed('one'))
    await sending.deliver()
    const count = async () => (await db.read.select().from(db.read.tables.webhookDeliveries)).length
    expect(await count()).toBe(500)
    sending.wait(8 * 24 * 60 * MINUTE)
    await sending.services.webhooks.dispatcher.tidy()
    expect(await deliveriesOf(id)).toEqual([])
  })

  test('are sent again, with the same id, by the next server if one dies before it records their delivery', async () => {
    let isFirst = true
    const { url, received } = await receiver((_request, response) => {
      const answer = () => response.end()
      if (!isFirst) return answer()
      isFirst = false
      // As if its lease had ended meanwhile: what it has sent is not recorded.
      const lost = { leaseHolder: 'another server', leasedUntil: sending.clock.now() + 1_000 }
      db.write(async (tx) => void (await tx.update(tx.tables.webhookEndpoints).set(lost))).finally(answer)
    })
    const { id } = await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'))
    await sending.deliver()
    expect(await deliveriesOf(id)).toEqual([])
    sending.wait(2_000)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one', 'one'])
    expect(received[0]!.headers['webhook-id']).toBe(received[1]!.headers['webhook-id'])
  })

  test('survive that a server is killed between an event and its delivery', async () => {
    const { url, received } = await receiver()
    await sending.add({ url, types: ['backup.*'] })
    await sending.record(backupFailed('one'))
    // A server that has claimed the endpoint and was killed.
    await db.write(async (tx) => {
      await tx
        .update(tx.tables.webhookEndpoints)
        .set({ leaseHolder: 'a server that was killed', leasedUntil: sending.clock.now() + 60_000 })
    })
    await sending.deliver()
    expect(received).toEqual([])
    sending.wait(61_000)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one'])
  })

  test('do not wait for a lease or an attempt of a server whose clock was ahead', async () => {
    const { url, received } = await receiverOf(500, 200)
    const { id } = await sending.add({ url, types: ['backup.*'] })
    const days = 90 * 24 * 60 * MINUTE
    sending.wait(days)
    await sending.record(backupFailed('one'))
    await sending.deliver()
    expect(await stateOf(id)).toMatchObject({ state: 'failing' })
    await db.write(async (tx) => {
      const lease = { leaseHolder: 'a server that was killed', leasedUntil: sending.clock.now() + MINUTE }
      await tx.update(tx.tables.webhookEndpoints).set(lease)
    })
    sending.wait(-days)
    await sending.deliver()
    expect(namesOf(received)).toEqual(['one', 'one'])
    expect(await stateOf(id)).toMatchObject({ state: 'active' })
  })

  test('do not overtake a transaction that began earlier and commits later', async () => {
    const { url, received } = await receiver()
    await sending.add({ url, types: ['backup.*'] })
    const { events } = sending.services
    const other = await open({ sharing: db })
    if (db.engine === 'sqlite') return
    const { promise: isRecorded, resolve: recorded } = Promise.withResolvers<void>()
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
    const slow = other.write(async (tx) => {
      await events.record(tx, [backupFailed('early')])
      recorded()
      await mayCommit
    })
    await isRecorded
    await sending.record(backupFailed('late'))
    await sending.deliver()
    expect(received).toEqual([])
    commit()
    await slow
    await sending.deliver()
    expect(namesOf(received)).toEqual(['early', 'late'])
  })

  test('are delivered by one of two servers at a time, each event once and in order', async () => {
    const clock = movableClock()
    const one = sendingOn(db, { clock })
    const two = sendingOn(await open({ sharing: db }), { clock })
    let open_ = 0
    let most = 0
    const receivers: Receiver[] = []
    for (let at = 0; at < 3; at++) {
      const started = await receiver((_request, response) => {
        open_ += 1
        most = Math.max(most, open_)
        setTimeout(() => {
          open_ -= 1
          response.end()
        }, 2)
      })
      receivers.push(started)
      await one.add({ url: started.url, types: ['backup.*'] })
    }
    const names = Array.from({ length: 40 }, (_, at) => String(at))
    for (const name of names) {
      await Promise.all([
        one.record(backupFailed(name)),
        ...(Number(name) % 5 === 0 ? [one.deliver(), two.deliver()] : []),
      ])
    }
    await Promise.all([one.deliver(), two.deliver()])
    await Promise.all([one.deliver(), two.deliver()])
    for (const { received } of receivers) expect(namesOf(received)).toEqual(names)
    expect(most).toBeLessThanOrEqual(3)
  })
})
