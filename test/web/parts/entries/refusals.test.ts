import { expect, test } from 'bun:test'
import type { ActionResults } from '../../../../src/web/parts/entries/entry.ts'
import { refusalsByReason } from '../../../../src/web/parts/entries/refusals.ts'

test('skipped entries are grouped by the reason, which does not name each of them', () => {
  const skipped = (id: string, detail: string) => ({ id, result: 'refused', problem: { detail } })
  const results = [
    { id: 'ent_1', result: 'done', problem: null },
    skipped('ent_2', 'the entry ent_2 is billed, and billed entries cannot change'),
    skipped('ent_3', 'you manage ent_3 yourself'),
    skipped('ent_4', 'the entry ent_4 is billed, and billed entries cannot change'),
  ] as unknown as ActionResults['results']
  const reasons = [...refusalsByReason({ results })].map(([reason, entries]) => [reason, entries.map(({ id }) => id)])
  expect(reasons).toEqual([
    ['It is billed, and billed entries cannot change.', ['ent_2', 'ent_4']],
    ['You manage it yourself.', ['ent_3']],
  ])
})
