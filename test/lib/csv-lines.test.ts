import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvLines } from '../../src/lib/csv-lines.ts'
import { runs } from '../support/tier.ts'

const texts = fc.string({ unit: fc.constantFrom('a', 'é', ' ', ',', '"', '""', '\n', '\r', '\r\n'), maxLength: 20 })

/** The result of csv-parse, which is as strict as RFC 4180; undefined for a text that it rejects. */
function parsed(text: string): string[][] | undefined {
  try {
    return parse(text, { bom: true, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true })
  } catch {
    return undefined
  }
}

describe('csvLines', () => {
  test('reads the same cells as csv-parse', () => {
    let compared = 0
    fc.assert(
      fc.property(texts, (text) => {
        const expected = parsed(text)?.filter((cells) => cells.length > 1 || cells[0] !== '')
        if (!expected) return
        expect(csvLines(text).map(({ cells }) => cells)).toEqual(expected)
        compared += 1
      }),
      { numRuns: runs(5_000) },
    )
    expect(compared).toBeGreaterThan(runs(1_000))
  })

  test('numbers lines as an editor does, with line breaks in cells and empty lines counted', () => {
    const lines = csvLines('\ufeffa,b\r\n"one\r\ntwo\nthree",x\r\n\r\nlast,"y"')
    expect(lines).toEqual([
      { number: 1, cells: ['a', 'b'] },
      { number: 2, cells: ['one\r\ntwo\nthree', 'x'] },
      { number: 6, cells: ['last', 'y'] },
    ])
  })

  test('keeps a quote inside a cell that does not begin with one', () => {
    expect(csvLines('disk,5" drive\n')[0]!.cells).toEqual(['disk', '5" drive'])
  })

  test('removes the apostrophe that keeps a spreadsheet from running a formula', () => {
    expect(csvLines("'=1+1,'@cf/meta,'plain\n")[0]!.cells).toEqual(['=1+1', '@cf/meta', "'plain"])
  })

  test('reports the line of a quote that is misplaced or not closed', () => {
    expect(() => csvLines('a\n"b\r\nc"d,e\n')).toThrow('line 2 has a misplaced quote')
    expect(() => csvLines('a,"b\n')).toThrow('line 1 has a misplaced quote')
  })

  test('stops at the limits', () => {
    const limits = { lines: 2, cells: 3 }
    expect(csvLines('a,b\nc\n', limits)).toHaveLength(2)
    expect(() => csvLines('a,b\nc,d\n', limits)).toThrow('it has more than 3 cells')
    expect(() => csvLines('a\n\n\n', limits)).toThrow('it has more than 2 lines')
  })
})
