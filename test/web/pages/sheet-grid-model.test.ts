import { describe, expect, test } from 'bun:test'
import {
  cellsOfBlock,
  cellText,
  changeOfEdit,
  daysOfWeek,
  draftOfEdit,
  draftOfEntry,
  type Edit,
  editOf,
  editsOfBlock,
  firstDayShown,
  type GridRow,
  type Measure,
  missingFields,
  momentOfDay,
  type RowSubject,
  rowsOf,
  sumOf,
  weeksOf,
  weekWith,
} from '../../../src/web/pages/sheets/grid-model.ts'
import type { SheetEntry } from '../../../src/web/pages/sheets/sheet-body.ts'

const ZONE = 'Europe/Berlin'
const NOVEMBER = { from: '2026-11-01', to: '2026-11-30' }
const DAYS = ['2026-11-23', '2026-11-24', '2026-11-25']

let last = 0
function entryOf(changes: object = {}): SheetEntry {
  last += 1
  return {
    id: `ent_${last}`,
    agent_harness: 'browser',
    agent_name: 'chat',
    model: 'gpt-5',
    provider: null,
    started_at: '2026-11-24T10:00:00.000Z',
    ended_at: '2026-11-24T11:00:00.000Z',
    tokens: {
      ...{ input: 100, output: 20, cache_read: 0, cache_write: 0, cache_write_1h: 0, total: 120 },
      ...{ input_audio: 7, input_image: null, output_audio: null, output_image: null },
    },
    requests: null,
    requests_above: null,
    service_tier: null,
    speed: null,
    region: null,
    tools: null,
    cost: 0.1,
    reported_cost: null,
    project: { id: 'prj_1', key: 'ACME', name: 'Acme' },
    ticket: null,
    placement: { by: 'named', named_project: null, named_ticket: null },
    summary: null,
    labels: {},
    ...changes,
  } as unknown as SheetEntry
}

const SUBJECT: RowSubject = {
  agent_harness: 'browser',
  agent_name: 'chat',
  model: 'gpt-5',
  provider: '',
  project: 'ACME',
  ticket: '',
  summary: '',
  labels: {},
}
const rowWith = (...entries: SheetEntry[]): GridRow => rowsOf(entries, [SUBJECT], ZONE)[0]!

describe('weeks', () => {
  test('begin on the organization’s day and have only days of the period', () => {
    const weeks = weeksOf(NOVEMBER, 1)
    expect(weeks).toEqual(['2026-10-26', '2026-11-02', '2026-11-09', '2026-11-16', '2026-11-23', '2026-11-30'])
    expect(daysOfWeek('2026-10-26', NOVEMBER)).toEqual(['2026-11-01'])
    expect(daysOfWeek('2026-11-23', NOVEMBER)).toHaveLength(7)
    expect(weeksOf(NOVEMBER, 0)[0]).toBe('2026-11-01')
  })

  test('are found by a day; the nearest one if the day is in none', () => {
    const weeks = weeksOf(NOVEMBER, 1)
    expect(['2026-11-25', '2027-01-01', '2026-01-01'].map((day) => weekWith(weeks, day))).toEqual([
      '2026-11-23',
      '2026-11-30',
      '2026-10-26',
    ])
  })

  test('show today first while it can be filled in, or else the last entry', () => {
    const entries = ['2026-11-12T23:30:00.000Z', '2026-11-04T10:00:00.000Z'].map((started_at) =>
      entryOf({ started_at }),
    )
    const first = (today: string, mayEdit: boolean, of = entries) =>
      firstDayShown(of, NOVEMBER, { today, mayEdit, time_zone: ZONE })
    expect(first('2026-11-25', true)).toBe('2026-11-25')
    expect(first('2026-11-25', false)).toBe('2026-11-13')
    expect(first('2027-01-01', true)).toBe('2026-11-13')
    expect(first('2027-01-01', true, [])).toBe('2027-01-01')
  })
})

describe('rows', () => {
  test('are what is worked on, by which agent and model; days are those of the zone', () => {
    const late = entryOf({ started_at: '2026-11-24T23:30:00.000Z' })
    const ticket = entryOf({ ticket: { id: 'tkt_1', key: 'ACME-1' }, model: 'gpt-5-mini' })
    const rows = rowsOf([late, ticket, entryOf()], [{ ...SUBJECT, project: 'LAB' }, SUBJECT], ZONE)
    expect(
      rows.map(({ subject, days }) => [subject.ticket || subject.project, subject.model, [...days.keys()]]),
    ).toEqual([
      ['ACME-1', 'gpt-5-mini', ['2026-11-24']],
      ['ACME', 'gpt-5', ['2026-11-24', '2026-11-25']],
      ['LAB', 'gpt-5', []],
    ])
  })

  test('leave out a place that a rule assigned, so that the next entry is placed by its labels', () => {
    const [row] = rowsOf([entryOf({ placement: { by: 'rule' }, labels: { branch: 'main' } })], [], ZONE)
    expect(row!.subject).toMatchObject({ project: '', labels: { branch: 'main' } })
  })
})

describe('sums', () => {
  test('are exact, and say what they leave out', () => {
    const entries = [entryOf({ cost: 0.1 }), entryOf({ cost: 0.2 }), entryOf({ cost: null })]
    expect(sumOf(entries, 'cost')).toEqual({ value: 0.3, unpriced: 1 })
    expect(sumOf(entries, 'input')).toEqual({ value: 300, unpriced: 0 })
    expect(cellText(sumOf([entryOf({ cost: null })], 'cost'), 'cost')).toBe('no price')
    expect(cellText(sumOf([], 'cost'), 'cost')).toBe('')
  })
})

describe('a typed number', () => {
  const edit = (row: GridRow, measure: Measure, value: number | '') => editOf(row, '2026-11-24', { measure, value })

  test('adds an entry to an empty cell: a cost without tokens, or tokens of one kind', () => {
    const row = rowWith()
    expect(edit(row, 'cost', 12.5)).toMatchObject({ kind: 'add', tokens: { input: 0, output: 0 }, reportedCost: 12.5 })
    expect(edit(row, 'output', 7)).toMatchObject({ kind: 'add', tokens: { input: 0, output: 7 }, reportedCost: null })
    expect(edit(row, 'cost', '')).toBeUndefined()
  })

  test('changes the only entry of a cell, and keeps its other counts', () => {
    const row = rowWith(entryOf())
    expect(edit(row, 'input', 500)).toMatchObject({
      kind: 'change',
      tokens: { input: 500, output: 20, cache_read: 0, input_audio: 7 },
    })
    expect(edit(row, 'cost', 3)).toMatchObject({ kind: 'change', reportedCost: 3 })
    expect(edit(row, 'input', 100)).toBeUndefined()
  })

  test('clears what is shown, and removes an entry that has nothing else', () => {
    const tokens = { ...entryOf().tokens, output: 0, total: 100 }
    expect(edit(rowWith(entryOf({ tokens })), 'input', '')).toMatchObject({ kind: 'remove' })
    expect(edit(rowWith(entryOf({ tokens, reported_cost: 1 })), 'input', '')).toMatchObject({ kind: 'change' })
    expect(edit(rowWith(entryOf({ reported_cost: 1 })), 'cost', '')).toMatchObject({ reportedCost: null })
    const none = { ...tokens, input: 0, total: 0 }
    expect(edit(rowWith(entryOf({ tokens: none, reported_cost: 1 })), 'cost', '')).toMatchObject({ kind: 'remove' })
  })

  test('is refused for the sum of several entries, and of all tokens', () => {
    expect(edit(rowWith(entryOf(), entryOf()), 'cost', 1)).toMatchObject({
      issue: expect.stringContaining('2 entries'),
    })
    expect(edit(rowWith(entryOf()), 'total', 1)).toMatchObject({ issue: expect.stringContaining('sum') })
  })
})

describe('a pasted block', () => {
  const rows = rowsOf([], [SUBJECT, { ...SUBJECT, project: 'LAB' }], ZONE)
  const paste = (text: string, at = { row: 0, day: 0 }) =>
    editsOfBlock(cellsOfBlock(text), { rows, days: DAYS, at, measure: 'input' })

  test('fills the cells from the cursor on; empty ones change nothing', () => {
    const { edits } = paste('1,000\t\t3k\r\n4\t5\t\r\n') as { edits: Extract<Edit, { kind: 'add' }>[] }
    expect(edits.map(({ row, day, tokens }) => [row.subject.project, day, tokens.input])).toEqual([
      ['ACME', '2026-11-23', 1_000],
      ['ACME', '2026-11-25', 3_000],
      ['LAB', '2026-11-23', 4],
      ['LAB', '2026-11-24', 5],
    ])
  })

  test('is refused as a whole if one cell can’t be read, or is outside of the grid', () => {
    expect(paste('1\t3.400')).toMatchObject({ issue: expect.stringMatching(/Row 1, column 2 .* 3,400 or 3\.4/) })
    expect(paste('1\n2\n3')).toMatchObject({ issue: expect.stringMatching(/Row 3, column 1 .* outside/) })
    expect(paste('1', { row: 0, day: 3 })).toMatchObject({ issue: expect.stringContaining('outside') })
  })
})

test('an entry is added now if its day is today, else at noon, which no change of clocks moves', () => {
  const now = new Date('2026-11-24T22:30:10Z')
  expect(momentOfDay('2026-11-24', ZONE, now)).toBe('2026-11-24T22:30:00.000Z')
  expect(momentOfDay('2026-11-23', ZONE, now)).toBe('2026-11-23T11:00:00.000Z')
  const row = rowsOf([], [{ ...SUBJECT, labels: { team: 'web' } }], ZONE)[0]!
  const added: Edit = { kind: 'add', row, day: '2026-11-23', tokens: { input: 5, output: 0 }, reportedCost: null }
  expect<object>(draftOfEdit(added, ZONE, now)).toEqual({
    agent_harness: 'browser',
    agent_name: 'chat',
    model: 'gpt-5',
    project: 'ACME',
    labels: { team: 'web' },
    started_at: '2026-11-23T11:00:00.000Z',
    ended_at: '2026-11-23T11:00:00.000Z',
    tokens: { input: 5, output: 0 },
  })
})

test('a removed entry is added again with everything that it had', () => {
  const more = { requests: 3, service_tier: 'batch', tools: { web_search: 2 }, reported_cost: 0 }
  expect(draftOfEntry(entryOf({ ...more, summary: 'Review' }))).toMatchObject({
    ...more,
    summary: 'Review',
    project: 'ACME',
  })
  const above = [{ threshold: 200_000 }]
  const entry = entryOf({ requests_above: above })
  expect<object>(changeOfEdit({ kind: 'change', entry, reportedCost: null })).toEqual({ reported_cost: null })
  const tokens = { input: 1, output: 2 }
  expect<object>(changeOfEdit({ kind: 'change', entry, tokens })).toEqual({ tokens, requests_above: above })
})

test('an entry lacks required fields as the server counts them', () => {
  const required = ['project', 'ticket', 'label:team']
  expect(missingFields(entryOf(), required)).toEqual(['ticket', 'label:team'])
  const held = { by: 'unattributed', named_project: null, named_ticket: 'ACME-1' }
  expect(missingFields(entryOf({ placement: held, labels: { team: 'web' } }), required)).toEqual([])
})
