import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { csvLines } from '../../src/lib/csv-lines.ts'
import { csvCell, csvLine } from '../../src/lib/csv-text.ts'
import { runs } from '../support/tier.ts'

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', '1', ' ', ',', '"', '\n', '\r', '=', '-', '@', '\t', "'", '＝') }),
)

test('a cell is the same whether it is written alone or in its line', () => {
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      expect(`${csvCell(one)},${csvCell(other)}\r\n`).toBe(csvLine([one, other]))
    }),
    { numRuns: runs(2_000) },
  )
})

test('whatever a text holds, it is read as one cell', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(csvLines(`x,${csvCell(text)},x\r\n`).map(({ cells }) => cells.length)).toEqual([3])
    }),
    { numRuns: runs(2_000) },
  )
})

test('an amount below zero is a number, and no text that a spreadsheet would run', () => {
  expect(csvLine(['-30.25', '-1', '-1+2', '=1'])).toBe("-30.25,-1,'-1+2,'=1\r\n")
})
