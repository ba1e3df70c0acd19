/** What Tally notices by itself is an event once, however often and by however many servers it is looked for. */
import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { createServices, type ServicesOptions } from '../../../src/services.ts'
import { forEachEngine, type Open } from '../../support/databases.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

/** A Tuesday at noon. */
const NOW = Date.UTC(2026, 10, 24, 12)
const DAY_MS = 86_400_000

async function stage(open: Open, mail?: ServicesOptions['mail']) {
  const db = await open()
  const time = { now: NOW }
  const clock = { now: () => time.now }
  const servicesOf = (shared: Database) => createServices({ db: shared, clock, mail })
  const services = servicesOf(db)
  const found = async (...types: string[]) => {
    const { views } = await services.events.readFull(
      { viewer: EVERYTHING, isAdmin: true },
      { after: 0, types: types as never, limit: 1_000 },
    )
    return views.map(({ type, object, details }) => ({ type, object, after: details?.after }))
  }
  const elsewhere = servicesOf(await open({ sharing: db }))
  /** By two servers at the same time, and once more. */
  const look = async () => {
    await Promise.all([services.notices.look(), elsewhere.notices.look()])
    await services.notices.look()
  }
  const caller = await addReporter(services.people)
  const report = (day: string, changes: Record<string, unknown> = {}) =>
    services.entries.reporting.reportEntry(
      reportBody({ started_at: `${day}T10:00:00Z`, ended_at: `${day}T11:00:00Z`, session_id: day, ...changes }),
      caller,
    )
  return { services, time, found, look, report, restarted: () => servicesOf(db).notices }
}

const WORKING_DAYS = ['2026-11-12', '2026-11-13', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19']

forEachEngine('a notice', (open) => {
  test('of a token that expires within a week comes once, and again if it was extended', async () => {
    const { services, time, found, look } = await stage(open)
    const { people } = services
    const expiresAt = NOW + 8 * DAY_MS
    const token = { kind: 'read', user: 'ada@example.com', name: 'dashboard' } as const
    await people.createToken({ ...token, expiresAt }, TALLY)
    await people.createToken({ ...token, name: 'for ever' }, TALLY)
    await look()
    expect(await found('token.expiring')).toEqual([])
    time.now += DAY_MS
    await look()
    expect(await found('token.expiring')).toMatchObject([
      {
        object: { name: 'dashboard' },
        after: { kind: 'read', user: { name: 'Ada' }, expires_at: new Date(expiresAt).toISOString() },
      },
    ])
    time.now += DAY_MS
    await look()
    expect(await found('token.expiring')).toHaveLength(1)
  })

  test('of silent agents comes once for each silence, and none while a session continues', async () => {
    const { services, time, found, look, report } = await stage(open)
    for (const day of WORKING_DAYS) await report(day)
    time.now = Date.UTC(2026, 10, 23, 12)
    await look()
    expect(await found('agent.silent')).toEqual([])
    time.now = NOW
    await look()
    const { uid } = await services.people.getUser('ada@example.com')
    const silence = {
      type: 'agent.silent' as const,
      object: { id: uid, name: 'Ada' },
      after: { agent_harness: 'codex', last_used_on: '2026-11-19', used_days: 6 },
    }
    expect(await found('agent.silent')).toEqual([silence])
    time.now += DAY_MS
    await look()
    expect(await found('agent.silent')).toEqual([silence])
  })

  test('of silent agents does not come while a session that began earlier continues', async () => {
    const { found, look, report } = await stage(open)
    for (const day of WORKING_DAYS) await report(day)
    await report('2026-11-19', { ended_at: '2026-11-23T11:00:00Z', tokens: { input: 50, output: 50 } })
    await look()
    expect(await found('agent.silent')).toEqual([])
  })

  test('of a day with unattributed and unpriced entries has their number, cost and list', async () => {
    const { time, found, look, report } = await stage(open)
    await report('2026-11-23', { reported_cost: 1.5 })
    await report('2026-11-23', { session_id: 'unpriced', model: 'no-such-model' })
    // Before six in the morning, machines of yesterday may still report.
    time.now = Date.UTC(2026, 10, 24, 5)
    await look()
    expect(await found('digest.unattributed', 'digest.unpriced')).toEqual([])
    time.now = NOW
    await look()
    const digests = await found('digest.unattributed', 'digest.unpriced')
    expect(digests).toMatchObject([
      { type: 'digest.unattributed', object: null, after: { day: '2026-11-23', entries: 2, cost: 1.5 } },
      { type: 'digest.unpriced', object: null, after: { day: '2026-11-23', entries: 1, unpriced_entries: 1 } },
    ])
    for (const { after } of digests) expect(after!.list).toStartWith('/api/v1/token-entries?')
    time.now += DAY_MS
    await look()
    expect(await found('digest.unattributed', 'digest.unpriced')).toHaveLength(2)
  })

  test('of a failed backup comes once a day', async () => {
    const { services, time, found } = await stage(open)
    for (let at = 0; at < 3; at += 1)
      await services.notices.backupFailed('backup', new Error('No space left on device'), null)
    expect(await found('backup.failed')).toEqual([
      { type: 'backup.failed', object: null, after: { step: 'backup', error: 'No space left on device' } },
    ])
    time.now += DAY_MS
    await services.notices.backupFailed('backup', 'unknown', null)
    expect(await found('backup.failed')).toHaveLength(2)
  })

  test('of failed backups is an e-mail once until one succeeds, however often the server starts', async () => {
    const mail = await startMailServer()
    try {
      const { services, time, restarted } = await stage(open, { ...mail.address, from: 'tally@agents.example' })
      for (const [name, role] of [
        ['grace', 'admin'],
        ['later', 'admin'],
        ['max', 'member'],
      ] as const) {
        await services.people.addUser({ email: `${name}@example.com`, name, role }, TALLY)
      }
      const failing = async (succeededAt: number | null, times = 3) => {
        for (let at = 0; at < times; at += 1) {
          const notices = restarted()
          await Promise.all([1, 2].map(() => notices.backupFailed('backup', new Error('disk gone'), succeededAt)))
          time.now += DAY_MS / 2
        }
      }
      const receivers = () => mail.letters.flatMap(({ to }) => to).sort()
      await failing(null)
      expect(receivers()).toEqual(['ada@example.com', 'grace@example.com'])
      // The next day, after one that succeeded.
      await failing(time.now)
      expect(receivers()).toHaveLength(4)
      await services.people.changeUser('later@example.com', { email: 'tomorrow@example.com' }, TALLY)
      await restarted().backupFailed('upload', new Error('refused'), null)
      expect(receivers()).toHaveLength(7)
      expect(new Set(mail.letters.map(({ headers }) => headers.get('message-id'))).size).toBe(7)
    } finally {
      await mail.close()
    }
  })
})
