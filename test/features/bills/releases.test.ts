import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11' }
const party = { viewer: EVERYTHING, person: null, by: TALLY }
const sending = { by: TALLY }

forEachEngine('entries of a void bill', (open) => {
  test('are where their work has moved since, so that its next bill takes them', async () => {
    const db = await open()
    const { bills, entries, people, projects } = createServices({ db, clock: { now: () => NOW } })
    await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
    const caller = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    const report = async (place: { project: string; ticket?: string }) => {
      const { entry } = await entries.reporting.reportEntry(
        {
          agent_harness: 'codex',
          agent_name: 'builder',
          model: 'no-such-model',
          started_at: '2026-11-20T10:00:00Z',
          ended_at: '2026-11-20T11:00:00Z',
          tokens: { input: 10, output: 5 },
          reported_cost: 1,
          ...place,
        },
        caller,
      )
      return entry.id
    }
    const [merged, moved, stayed] = [
      await report({ project: 'OLD' }),
      await report({ project: 'WEB', ticket: 'WEB-1' }),
      await report({ project: 'WEB' }),
    ]
    const { bill } = await bills.send(NOVEMBER, sending)
    await projects.addProject(party, { key: 'NEW' })
    await entries.places.mergeProject(party, 'OLD', 'NEW', {})
    await entries.places.changeTicket(party, 'WEB-1', { project: 'NEW' })
    const keyOf = async (id: string) => (await entries.listing.getEntry(id, EVERYTHING)).project?.key
    expect([await keyOf(merged), await keyOf(moved)]).toEqual(['OLD', 'WEB'])

    await bills.voidBill(bill.bill.number, { reason: 'Wrong client' }, TALLY)
    expect([await keyOf(merged), await keyOf(moved), await keyOf(stayed)]).toEqual(['NEW', 'NEW', 'WEB'])
    const { data } = await entries.listing.getHistory(merged, EVERYTHING)
    expect(data.at(-1)).toMatchObject({ action: 'placed', details: { because: 'bill_voided' } })
    expect((await entries.listing.getHistory(stayed, EVERYTHING)).data.map(({ action }) => action)).not.toContain(
      'placed',
    )
    expect((await bills.send({ ...NOVEMBER, project: 'NEW' }, sending)).bill.bill.entries).toBe(2)
  })
})
