import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import type { BillDocument } from '../../../src/features/bills/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)

forEachEngine('a bill with entries that change between composing and writing', (open) => {
  test('has them where they are now, even if two have been swapped', async () => {
    const db = await open()
    const clock = { now: () => NOW }
    const others = createServices({ db, clock })
    let meanwhile: (() => Promise<unknown>) | undefined
    const write: Database['write'] = async (body) => {
      const change = meanwhile
      meanwhile = undefined
      await change?.()
      return db.write(body)
    }
    const { bills } = createServices({ db: { ...db, write }, clock })

    const caller = await addReporter(others.people)
    const report = async (project: string, cost: number) => {
      const { entry } = await others.entries.reporting.reportEntry(
        reportBody({ model: 'no-such-model', project, reported_cost: cost }),
        caller,
      )
      return entry.id
    }
    const [web, app] = [await report('WEB', 1), await report('APP', 5)]
    meanwhile = async () => {
      await others.entries.places.changeEntry(web, { project: 'APP' }, OPERATOR)
      await others.entries.places.changeEntry(app, { project: 'WEB' }, OPERATOR)
    }
    const { bill } = await bills.send({ month: '2026-11', group_by: ['project'] }, { by: TALLY })
    const { sections } = JSON.parse(await bills.getDocument(bill)) as BillDocument
    expect(sections[0]!.lines.map(({ keys, amount }) => [(keys.project as { key: string }).key, amount])).toEqual([
      ['APP', 1],
      ['WEB', 5],
    ])
    expect(bill.bill.number).toBe('2026-0001')
  })
})
