import { describe, expect, test } from 'bun:test'
import { getTableColumns, type Table } from 'drizzle-orm'
import { postgresTables } from '../../../src/database/schema/postgres-tables.ts'
import type { ErasedWords } from '../../../src/database/schema/records.ts'
import { TEXT_COLUMNS } from '../../../src/features/personal-data/erasure/columns.ts'
import { isSingleWord, replacing } from '../../../src/features/personal-data/erasure/words.ts'

const WORDS: ErasedWords = {
  emails: ['ada@example.com'],
  names: ['Ada Lovelace', 'Zoë "Z" Öst', 'ada.lovelace'],
  accountNames: ['Ada'],
  pseudonym: { name: 'Erased person 1f2e3d', email: 'x@erased.invalid' },
}
const { inText, inJson, hints } = replacing(WORDS, { ofAccount: false })

test('every column with text says what an erasure does to it', () => {
  const listed = Object.entries(TEXT_COLUMNS).flatMap(([table, { text = [], json = [], kept = {}, other = [] }]) =>
    [...text, ...json, ...Object.keys(kept), ...other].map((column) => `${table}.${column}`),
  )
  const existing = Object.entries(postgresTables).flatMap(([name, table]) =>
    Object.entries(getTableColumns(table as Table))
      .filter(([, column]) => column.getSQLType() === 'text')
      .map(([column]) => `${name}.${column}`),
  )
  expect(listed.sort()).toEqual(existing.sort())
})

describe('words', () => {
  test.each([
    ['Ada Lovelace fixed it', 'Erased person 1f2e3d fixed it'],
    ['ADA LOVELACE, ada@Example.com', 'Erased person 1f2e3d, x@erased.invalid'],
    ['/home/ada.lovelace/web', '/home/Erased person 1f2e3d/web'],
    ['ZOË "Z" ÖST', 'Erased person 1f2e3d'],
  ])('are replaced in any letter case: %s', (text, expected) => {
    expect(inText(text)).toBe(expected)
  })

  test.each([
    'grace.ada@example.com',
    'ada@example.com.au',
    'ada@example.community',
    'Ada Lovelaces',
    'Canada Lovelace',
    'Ada',
    'Ada_Lovelace2',
  ])('within others are not: %s', (text) => {
    expect(inText(text)).toBe(text)
  })

  test('in an address at the end of a sentence are replaced', () => {
    expect(inText('Ask ada@example.com.')).toBe('Ask x@erased.invalid.')
  })

  test('of the account are replaced only there', () => {
    expect(replacing(WORDS, { ofAccount: true }).inText('Ada')).toBe('Erased person 1f2e3d')
  })

  test('in JSON are replaced in strings and names, and numbers stay as they are written', () => {
    const json = '{"n":12345678901234567890,"Ada Lovelace":"line\\nAda Lovelace \\"Zoë \\\\","x":"Zoë \\"Z\\" Öst"}'
    expect(inJson(json)).toBe(
      '{"n":12345678901234567890,"Erased person 1f2e3d":"line\\nErased person 1f2e3d \\"Zoë \\\\","x":"Erased person 1f2e3d"}',
    )
  })

  test('are found by their hints in every text that changes', () => {
    for (const text of ['ADA lovelace', 'zoë "z" öst', 'ZOË "Z" ÖST', 'Ada@Example.COM']) {
      for (const stored of [text, JSON.stringify(text)]) {
        const lowered = stored.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
        expect(hints.some((hint) => lowered.includes(hint))).toBe(true)
      }
    }
  })

  test('that mean others elsewhere are single ones', () => {
    expect(['Ada', 'Ada Lovelace', 'ada.l', 'Jean-Luc'].map(isSingleWord)).toEqual([true, false, false, false])
  })
})
