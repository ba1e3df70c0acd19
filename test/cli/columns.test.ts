import { afterEach, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { createProgram } from '../../src/cli/program.ts'
import { shownColumns } from '../../src/cli/terminal/columns.ts'
import { type Column, printTable } from '../../src/cli/terminal/print.ts'

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

const { columns: terminalWidth } = process.stdout
afterEach(() => {
  process.stdout.columns = terminalWidth
})

/** What a terminal of this width shows of a table; no width for a pipe. */
function printed<Row>(width: number | undefined, ...table: Parameters<typeof printTable<Row>>): string[] {
  process.stdout.columns = width as number
  let text = ''
  const take = (chunk: unknown) => {
    text += chunk
    return true
  }
  const writers = [spyOn(process.stdout, 'write'), spyOn(process.stderr, 'write')].map((spy) =>
    spy.mockImplementation(take as typeof process.stdout.write),
  )
  printTable(...table)
  for (const writer of writers) writer.mockRestore()
  return text.trimEnd().split('\n')
}

const CHECKS: Column<string[]>[] = [
  { title: 'CHECK', flows: true, of: ([text]) => text! },
  { title: 'COUNT', align: 'right', of: ([, count]) => count! },
  { title: 'DETAIL', rank: 1, of: ([, , detail]) => detail! },
]
const ROW = ['held because another person has the same session', '12', 'a detail of thirty characters!']

test('a table without flags wraps its text on a terminal, and hides details with a note', () => {
  expect(printed(undefined, CHECKS, [ROW])).toEqual([
    'CHECK                                             COUNT  DETAIL',
    'held because another person has the same session     12  a detail of thirty characters!',
  ])
  expect(printed(80, CHECKS, [ROW])).toEqual([
    'CHECK                                      COUNT  DETAIL',
    'held because another person has the same      12  a detail of thirty characters!',
    'session',
  ])
  expect(printed(40, CHECKS, [ROW])).toEqual([
    'CHECK                              COUNT',
    'held because another person has       12',
    'the same session',
    'Hidden to fit the terminal: DETAIL. Pipe the output to `less -S` to see them.',
  ])
})

test('no line of a table is wider than the terminal, and none of its text is lost', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '日'), maxLength: 200 })
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), fc.integer({ min: 40, max: 120 }), (texts, width) => {
      const columns = [CHECKS[1]!, { title: 'TEXT', flows: true, of: ([value]: string[]) => value! }]
      const lines = printed(
        width,
        columns,
        texts.map((value) => [value, '1']),
      )
      for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
      const letters = (shown: string) => shown.replaceAll(/[^abé日]/g, '')
      expect(letters(lines.join(''))).toBe(letters(texts.join('')))
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
