import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR } from '../../support/reports.ts'

const NOW = Date.parse('2026-12-01T09:00:00Z')

forEachEngine('an entry that was locked when its session got another owner', (open) => {
  async function stage() {
    const services = createServices({ db: await open(), clock: { now: () => NOW } })
    const { people, entries, projects } = services
    const callerFor = async (email: string, kind: 'svc' | 'org') => {
      await people.addUser({ email, name: email, role: 'admin' }, TALLY)
      const { secret } = await people.createToken({ kind, user: email, name: 'test' }, TALLY)
      return (await people.authenticate(`Bearer ${secret}`)) as never
    }
    await projects.addProject(OPERATOR, { key: 'WEB', name: 'Web' })
    const tell = async (source: 'log' | 'report', output: number, caller: never) => {
      const report = readReport(
        {
          agent_harness: 'codex',
          agent_name: 'builder',
          model: 'gpt-5-codex',
          started_at: '2026-11-20T10:00:00Z',
          ended_at: '2026-11-20T11:00:00Z',
          tokens: { input: 0, output },
          session_id: 's-1',
          reported_cost: 1,
          project: 'WEB',
        },
        NOW,
      )
      return (await entries.reporting.recordFrom(source, report, caller)).entry.entry.uid
    }
    const id = await tell('log', 100, await callerFor('telemetry@example.com', 'org'))
    const ada = await callerFor('ada@example.com', 'svc')
    const owner = async () => (await entries.listing.getEntry(id, EVERYTHING)).agent_manager.name
    const lastStep = async () => (await entries.listing.getHistory(id, EVERYTHING)).data.at(-1)!
    const decide = (action: 'approve' | 'withdraw_approval') =>
      entries.approval.decideEntry(id, { action }, { viewer: EVERYTHING, person: null, by: TALLY } as never)
    return { ...services, id, owner, lastStep, decide, adopt: () => tell('report', 100, ada) }
  }

  test('belongs to that person once its approval is withdrawn', async () => {
    const { entries, owner, lastStep, decide, adopt } = await stage()
    await decide('approve')
    await adopt()
    expect(await owner()).toBe('telemetry@example.com')
    await decide('withdraw_approval')
    expect(await owner()).toBe('ada@example.com')
    expect(await lastStep()).toMatchObject({ action: 'assigned', details: { because: 'session_owner' } })
    expect(await entries.verify()).toEqual([])
  })

  test('belongs to that person also if both happen at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { entries, owner, decide, adopt } = await stage()
      await decide('approve')
      await Promise.all(round % 2 ? [decide('withdraw_approval'), adopt()] : [adopt(), decide('withdraw_approval')])
      expect(await owner()).toBe('ada@example.com')
      expect(await entries.verify()).toEqual([])
    }
  })

  test('belongs to that person once its bill is voided', async () => {
    const { bills, entries, owner, lastStep, adopt } = await stage()
    await bills.send({ month: '2026-11', project: 'WEB' }, { by: TALLY })
    await adopt()
    expect(await owner()).toBe('telemetry@example.com')
    await bills.voidBill('2026-0001', { reason: 'Wrong month' }, TALLY)
    expect(await owner()).toBe('ada@example.com')
    expect(await lastStep()).toMatchObject({ action: 'assigned', details: { because: 'session_owner' } })
    expect(await entries.verify()).toEqual([])
  })
})
