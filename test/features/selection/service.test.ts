import { expect, test } from 'bun:test'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { newId } from '../../../src/lib/id.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'

const clock = { now: () => Date.parse('2026-11-20T19:30:00Z') }

forEachEngine('a filter', (open) => {
  test('of everything that can be named is checked, by whoever asks', async () => {
    const { selection } = createServices({ db: await open(), clock })
    const texts = {
      project: 'acme',
      ticket: 'ACME-1',
      client: ['Acme', 'none'],
      agent_manager: 'ada@example.com',
      price_load: newId('pld'),
      sheet: newId('sht'),
      bill: ['9999-1', 'none'],
    }
    for (const asker of [COMMAND_LINE, { ...COMMAND_LINE, listsPeople: false }]) {
      const read = selection.read(asker, (timeZone) => readListQuery(texts, timeZone))
      const issues = await read.catch((problem) => problem.more.issues)
      expect(issues.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
        '/query/project',
        '/query/ticket',
        '/query/client',
        '/query/agent_manager',
        '/query/price_load',
        '/query/sheet',
        '/query/bill',
      ])
    }
    const { filter } = await selection.read(COMMAND_LINE, (zone) =>
      readListQuery({ project: 'none', bill: 'none' }, zone),
    )
    expect(filter.project).toEqual(['none'])
  })

  test('names oneself before one has entries', async () => {
    const { selection } = createServices({ db: await open(), clock })
    const self = { uid: newId('usr'), email: 'ada@example.com' }
    for (const agent_manager of [self.uid, 'Ada@example.com']) {
      const asker = { ...COMMAND_LINE, listsPeople: false, self }
      const { filter } = await selection.read(asker, (zone) => readListQuery({ agent_manager }, zone))
      expect(filter.agent_manager).toEqual([agent_manager])
    }
  })
})
