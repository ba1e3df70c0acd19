/** Owners of webhooks on two servers: nothing is sent while the owner has no rights, nothing is lost, and nothing comes twice. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { Principal } from '../../../src/access/caller.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Manager } from '../../../src/features/webhooks/service.ts'
import type { Services } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startReceiver } from '../../support/receivers.ts'
import { runs } from '../../support/tier.ts'
import { backupFailed, movableClock, OPERATOR, sendingOn } from '../../support/webhooks.ts'

const SCOPES = ['webhooks:manage', 'events:read', 'audit:read']

interface Owner extends Manager {
  principal: Principal
  email: string
  /** Ends the rights, and gives them back where that is possible. */
  lose(): Promise<unknown>
  restore?(): Promise<unknown>
}

let people = 0

/** An admin, or an API token of one. */
async function newOwner(
  { people: service }: Services,
  kind: 'person' | 'token',
  scopes: string[] = SCOPES,
): Promise<Owner> {
  const email = `owner-${people++}@example.com`
  const { id, uid, name, role } = await service.addUser({ email, name: 'Grace', role: 'admin' }, TALLY)
  if (kind === 'person') {
    return {
      email,
      principal: { kind: 'session', person: { id, uid, email, name, role } },
      by: { userId: id, tokenId: null, origin: '::1' },
      lose: () => service.disableUser(email, TALLY),
      restore: () => service.enableUser(email, TALLY),
    }
  }
  const made = await service.createToken({ kind: 'api', user: email, name: 'script', scopes }, TALLY)
  const caller = await service.authenticate(`Bearer ${made.secret}`)
  return {
    email,
    principal: caller as Extract<Principal, { kind: 'api' }>,
    by: { userId: id, tokenId: made.token.id, origin: '::1' },
    lose: () => service.revokeToken({ ownerId: undefined }, made.token.uid, TALLY),
  }
}

async function turnOnTokens(db: Database): Promise<void> {
  await db.write(async (tx) => void (await tx.update(tx.tables.organization).set({ apiTokens: true })))
}

forEachEngine('webhooks of owners', (open) => {
  const ACTS = [
    'record',
    'deliver',
    'deliver elsewhere',
    'lose',
    'restore',
    'take over as person',
    'take over as token',
  ]

  test('send each event once and in order, and none while the owner has no rights, whatever happens in between', async () => {
    const db = await open()
    await turnOnTokens(db)
    const clock = movableClock()
    const one = sendingOn(db, { clock })
    const two = sendingOn(await open({ sharing: db }), { clock })
    const { services } = one
    const { webhooks } = services
    // The last admin can't be disabled.
    await newOwner(services, 'person')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...ACTS), { minLength: 6, maxLength: 20 }), async (acts) => {
        const receiver = await startReceiver()
        const names = () => receiver.received.map(({ body }) => JSON.parse(body).object.name)
        let owner = await newOwner(services, acts.length % 2 === 0 ? 'person' : 'token')
        let isLost = false
        const recorded: string[] = []
        const json = { name: 'Hook', url: receiver.url, types: ['backup.*'] }
        const { id } = await webhooks.addWebhook(json, owner)
        const takeOver = async (next: Owner) => {
          await webhooks.takeOver(id, next)
          owner = next
          isLost = false
        }
        for (const act of acts) {
          const before = names()
          if (act === 'record') {
            recorded.push(String(recorded.length))
            await one.record(backupFailed(recorded.at(-1)!))
          }
          if (act === 'deliver') await one.deliver()
          if (act === 'deliver elsewhere') await two.deliver()
          if (act.startsWith('deliver')) expect(names()).toEqual(isLost ? before : recorded)
          if (act === 'lose') await owner.lose()
          isLost ||= act === 'lose'
          if (act === 'restore' && owner.restore) {
            if (isLost) await owner.restore()
            isLost = false
          }
          if (act === 'take over as person') await takeOver(await newOwner(services, 'person'))
          if (act === 'take over as token') await takeOver(await newOwner(services, 'token'))
        }
        if (isLost) await webhooks.takeOver(id, OPERATOR)
        await Promise.all([one.deliver(), two.deliver()])
        await one.deliver()
        expect(names()).toEqual(recorded)
        await webhooks.removeWebhook(id, TALLY)
        await receiver.close()
      }),
      { numRuns: runs(100, 8) },
    )
  })

  test('are taken over in the middle of a delivery without an event twice', async () => {
    const db = await open()
    await turnOnTokens(db)
    const { services, record, deliver } = sendingOn(db)
    const [owner, next] = [await newOwner(services, 'token'), await newOwner(services, 'person')]
    const receiver = await startReceiver((_request, response) => {
      const isSecond = receiver.received.length === 2
      const act = async () => {
        await owner.lose()
        await services.webhooks.takeOver(id, next)
      }
      Promise.resolve(isSecond ? act() : undefined).finally(() => response.end())
    })
    const json = { name: 'Hook', url: receiver.url, types: ['backup.*'] }
    const { id } = await services.webhooks.addWebhook(json, owner)
    await record(...['1', '2', '3', '4'].map(backupFailed))
    await deliver()
    await deliver()
    expect(receiver.received.map(({ body }) => JSON.parse(body).object.name)).toEqual(['1', '2', '3', '4'])
    await receiver.close()
  })

  test('are read again by the next owner where a server has read on with the rights of the one before', async () => {
    const db = await open()
    await turnOnTokens(db)
    const one = sendingOn(db)
    const two = sendingOn(await open({ sharing: db }))
    const { webhooks } = one.services
    const narrow = await newOwner(one.services, 'token', ['webhooks:manage', 'events:read'])
    const receiver = await startReceiver()
    const { id } = await webhooks.addWebhook({ name: 'Hook', url: receiver.url, types: ['*'] }, narrow)
    await one.record(backupFailed('hidden'))
    await two.deliver()
    expect(receiver.received).toEqual([])
    await webhooks.takeOver(id, await newOwner(one.services, 'person'))
    await two.deliver()
    expect(receiver.received.map(({ body }) => JSON.parse(body).object.name)).toContain('hidden')
    await receiver.close()
  })

  test('tell admins by e-mail, once, that they are suspended, and what helps', async () => {
    const db = await open()
    await turnOnTokens(db)
    const mailServer = await startMailServer()
    const { services, record, deliver } = sendingOn(db, {
      mail: { ...mailServer.address, from: 'tally@example.com' },
    })
    const { people, webhooks } = services
    await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
    await people.addUser({ email: 'alan@example.com', name: 'Alan', role: 'billing' }, TALLY)
    const owner = await newOwner(services, 'person')
    const json = { name: 'Hook', url: 'https://hooks.example.com/secret', types: ['backup.*'] }
    const { id } = await webhooks.addWebhook(json, owner)
    await owner.lose()
    await record(backupFailed('one'))
    await deliver()
    await deliver()
    await webhooks.dispatcher.sendNotices()
    await webhooks.dispatcher.sendNotices()
    expect(mailServer.letters.map(({ to }) => to.join())).toEqual(['ada@example.com'])
    const { headers, text } = mailServer.letters[0]!
    expect(headers.get('subject')).toBe('The webhook Hook was suspended')
    expect(text).toContain('because its owner, Grace, is disabled.')
    expect(text).toContain(`tally webhooks take-over ${id}`)
    expect(text).not.toContain('/secret')
    await mailServer.close()
  })
})
