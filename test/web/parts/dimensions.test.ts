import '../../support/page-location.ts'
import { expect, test } from 'bun:test'
import { readAddress } from '../../../src/web/address.ts'
import { REPORTS_ADDRESS } from '../../../src/web/pages/reports/address.ts'
import { addressOfGroups, type Question } from '../../../src/web/pages/reports/question.ts'
import { largest, onlyOther } from '../../../src/web/pages/reports/series.ts'
import { narrowed } from '../../../src/web/parts/usage/dimensions.ts'

test('every group without a value that exists has a filter', () => {
  const filters = (['project', 'ticket', 'client', 'provider', 'label:team'] as const).map((dimension) =>
    narrowed({ model: ['gpt-5'] }, [[dimension, null]]),
  )
  expect(filters).toEqual([
    { model: ['gpt-5'], project: ['none'] },
    { model: ['gpt-5'], ticket: ['none'] },
    { model: ['gpt-5'], has_client: 'false' },
    { model: ['gpt-5'], provider: ['none'] },
    { model: ['gpt-5'], without_label: ['team'] },
  ])
})

test('a filter that a group without a value narrows stays', () => {
  expect(narrowed({ project: ['acme-web'] }, [['client', null]])).toEqual({
    project: ['acme-web'],
    has_client: 'false',
  })
})

test('the other groups of a bar lead to the report of all groups in its days', () => {
  const question: Question = {
    ...{ measure: 'tokens', by: 'client', second: 'model', width: '1w', earlier: undefined },
    period: { from: '2026-10-01', to: '2026-11-30' },
    filter: { agent_harness: ['codex'] },
  }
  // The last Sunday of October has 25 hours in Berlin.
  const between = { starting_at: '2026-10-18T22:00:00.000Z', ending_at: '2026-10-25T23:00:00.000Z' }
  const address = addressOfGroups(question, between, 'Europe/Berlin')
  const read = readAddress(address.split('?')[1]!, REPORTS_ADDRESS)
  expect(read).toMatchObject({
    ...{ measure: 'tokens', by: 'client', second: 'model', period: '2026-10-19..2026-10-25' },
    agent_harness: ['codex'],
  })
})

test('what is left beside the largest groups is named and opened as its group, if it is only one', () => {
  const group = (id: string | null, cost: number) => ({ client: id && { id, name: id }, cost }) as never
  const groups = [group('a', 3), group(null, 2), group('b', 1), group('c', 0)]
  const of = { dimension: 'client', measure: 'cost' } as const
  expect(onlyOther(groups, largest(groups, of), 'cost')).toBe(groups[1])
  const many = [...groups, ...Array.from({ length: 9 }, (_, at) => group(`x${at}`, 4))]
  expect(onlyOther(many, largest(many, of), 'cost')).toBeUndefined()
})
