import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11' }
const sending = { by: TALLY }

forEachEngine('entries of a voided bill', (open) => {
  test('follow their project and ticket, so that the next bill there includes them', async () => {
    const db = await open()
    const { bills, entries, people, projects } = createServices({ db, clock: { now: () => NOW } })
    const caller = await addReporter(people)
    const report = async (place: { project: string; ticket?: string }) => {
      const { entry } = await entries.reporting.reportEntry(
        reportBody({ model: 'no-such-model', reported_cost: 1, ...place }),
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
    await projects.addProject(OPERATOR, { key: 'NEW' })
    await entries.places.mergeProject(OPERATOR, 'OLD', 'NEW', {})
    await entries.places.changeTicket(OPERATOR, 'WEB-1', { project: 'NEW' })
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
