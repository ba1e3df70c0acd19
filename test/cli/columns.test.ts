import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProgram } from '../../src/cli/program.ts'
import { shownColumns } from '../../src/cli/terminal/columns.ts'

const column = (title: string, rank?: number) => ({ title, of: () => '', ...(rank !== undefined && { rank }) })
const COLUMNS = [
  column('STARTED (UTC)'),
  column('HARNESS', 2),
  column('AGENT', 2),
  column('COST (USD)'),
  column('PLACE'),
  column('ID'),
]
const WIDTHS = [16, 11, 8, 10, 12, 36]
const titles = (flags: Parameters<typeof shownColumns>[2], room?: number) =>
  shownColumns(COLUMNS, WIDTHS, flags, room).map(({ title }) => title)

test('a narrow terminal hides details first, then from the right, and never the first column and the id', () => {
  expect(titles({}, 103)).toHaveLength(6)
  expect(titles({}, 102)).toEqual(['STARTED (UTC)', 'HARNESS', 'COST (USD)', 'PLACE', 'ID'])
  expect(titles({}, 80)).toEqual(['STARTED (UTC)', 'COST (USD)', 'PLACE', 'ID'])
  expect(titles({}, 79)).toEqual(['STARTED (UTC)', 'COST (USD)', 'ID'])
  expect(titles({}, 20)).toEqual(['STARTED (UTC)', 'ID'])
})

test('files, pipes and --wide have all columns, and --columns those that it names', () => {
  expect(titles({})).toHaveLength(6)
  expect(titles({ wide: true }, 20)).toHaveLength(6)
  expect(titles({ columns: ['id', 'Started', 'cost'] }, 20)).toEqual(['ID', 'STARTED (UTC)', 'COST (USD)'])
  expect(() => titles({ columns: ['price'] })).toThrow(
    "--columns: there is no column 'price'. Use some of started, harness, agent, cost, place, id.",
  )
})

test('a wider terminal never shows less', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 50 }), (room, more) => {
      expect(titles({}, room + more)).toEqual(expect.arrayContaining(titles({}, room)))
    }),
  )
})

test('every list takes --columns and --wide', async () => {
  const lists = (await createProgram()).commands.flatMap((group) =>
    group.commands.filter((sub) => sub.name() === 'list').map((sub) => [group.name(), sub] as const),
  )
  expect(lists.length).toBeGreaterThan(8)
  for (const [name, { options }] of lists) {
    const flags = options.map(({ long }) => long)
    expect([name, flags.includes('--columns'), flags.includes('--wide')]).toEqual([name, true, true])
  }
})
