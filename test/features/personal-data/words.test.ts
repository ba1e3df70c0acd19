import { describe, expect, test } from 'bun:test'
import { getTableColumns, type Table } from 'drizzle-orm'
import { postgresTables } from '../../../src/database/schema/postgres-tables.ts'
import type { ErasedWords } from '../../../src/database/schema/records.ts'
import { TEXT_COLUMNS } from '../../../src/features/personal-data/erasure/columns.ts'
import { nearMatching } from '../../../src/features/personal-data/erasure/near-matches.ts'
import { isSingleWord, replacing } from '../../../src/features/personal-data/erasure/words.ts'

const WORDS: ErasedWords = {
  emails: ['ada@example.com'],
  names: ['Ada Lovelace', 'Zoë "Z" Öst', 'ada.lovelace'],
  accountNames: ['Ada'],
  pseudonym: { name: 'Erased person 1f2e3d', email: 'x@erased.invalid' },
}
const { inText, inJson } = replacing(WORDS, { ofAccount: false })

test('every column with text says what an erasure does to it', () => {
  const listed = Object.entries(TEXT_COLUMNS).flatMap(
    ([table, { text = [], json = [], sessionIds = [], kept = {}, other = [] }]) =>
      [...text, ...json, ...sessionIds, ...Object.keys(kept), ...other].map((column) => `${table}.${column}`),
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

  test.each([
    ['Zoe\u0308 "Z" O\u0308st', 'Erased person 1f2e3d'],
    ['Ada\u00a0\u2009Lovelace', 'Erased person 1f2e3d'],
    ['A\u200dda\nLove\u00adlace', 'Erased person 1f2e3d'],
    ['Ada\u200dLovelace', 'Erased person 1f2e3d'],
    ['＠ Ａｄａ Lovelace!', '＠ Erased person 1f2e3d!'],
    ['?by=Ada%20Lovelace&to=ada%2Btag%40example.com', '?by=Erased person 1f2e3d&to=x@erased.invalid'],
    ['ada+tally@example.com', 'x@erased.invalid'],
    ['"fixed\\nAda\\u0020Lovelace"', '"fixed\\nErased person 1f2e3d"'],
    // As Tally writes it to chats.
    ['**ada\\@example\\.com** ada@\u2060example.com', '**x@erased.invalid** x@erased.invalid'],
  ])('are replaced in any spelling: %s', (text, expected) => {
    expect(inText(text)).toBe(expected)
  })

  test.each(['Ada Lovelace\u0301', 'Adá Lovelace', 'x+ada@example.com', '100%ada lovelaces', 'Ada Love lace'])(
    'that differ in a letter are not: %s',
    (text) => {
      expect(inText(text)).toBe(text)
    },
  )

  test('within names and addresses of others are not', () => {
    const others = ['Ada Lovelace Byron', 'Mary Ada Lovelace', 'ada+bot@example.com']
    const { inText } = replacing({ ...WORDS, others }, { ofAccount: false })
    for (const text of [...others, 'MARY  ADA LOVELACE', 'Ada+Bot%40example.com']) expect(inText(text)).toBe(text)
    expect(inText('Ada Lovelace, Ada Lovelace Byron')).toBe('Erased person 1f2e3d, Ada Lovelace Byron')
    expect(inText('ada+other@example.com')).toBe('x@erased.invalid')
  })

  test('with a tag of their own leave other tags alone', () => {
    const { inText } = replacing({ ...WORDS, emails: ['team+ada@example.com'] }, { ofAccount: false })
    expect(inText('team+ada@example.com team+grace@example.com team@example.com')).toBe(
      'x@erased.invalid team+grace@example.com team@example.com',
    )
  })

  test('that become the same names of a JSON document stay apart', () => {
    expect(inJson('{"Ada Lovelace":1,"ada  lovelace":2,"x":{"Ada Lovelace":3}}')).toBe(
      '{"Erased person 1f2e3d":1,"Erased person 1f2e3d (2)":2,"x":{"Erased person 1f2e3d":3}}',
    )
  })

  test('that mean others elsewhere are single ones', () => {
    expect(['Ada', 'Ada Lovelace', 'ada.l', 'Jean-Luc'].map(isSingleWord)).toEqual([true, false, false, false])
  })
})

describe('near matches', () => {
  const near = nearMatching({
    ...WORDS,
    emails: ['a.love@example.com'],
    names: ['Ada Lovelace', 'Ada Augusta King'],
    others: ['Adam Lovelace'],
  })
  const found = (text: string) => near.in(text).map(({ spelling, kind }) => `${kind}: ${spelling}`)

  test.each([
    ['by Lovelace, Ada again', 'order: Lovelace, Ada'],
    ['King,  Ada', 'order: King,  Ada'],
    ['A. Lovelace', 'initials: A. Lovelace'],
    ['asked Ada L today', 'initials: Ada L'],
    ['Ada King', 'initials: Ada King'],
    ['/home/ada.lovelace/web', 'joined: ada.lovelace'],
    ['/home/alovelace/web', 'joined: alovelace'],
    ['AdaLovelace', 'joined: AdaLovelace'],
    ['Ada Lovelase', 'misspelled: Ada Lovelase'],
    ['Ada Lovlace', 'misspelled: Ada Lovlace'],
    ['Aada Lovelace', 'misspelled: Aada Lovelace'],
    ['Adà Lovelace', 'joined: Adà Lovelace'],
    ['a.love@other.example', 'address: a.love@other.example'],
    ['@a.love', 'address: a.love'],
  ])('are shown: %s', (text, expected) => {
    expect(found(text)).toContain(expected)
  })

  test.each(['Adam Lovelace', 'the Ada compiler', 'Grace Lovelace', 'Ada Byron', 'a. lovely day', 'lovelace'])(
    'are not what is somebody else: %s',
    (text) => {
      expect(found(text)).toEqual([])
    },
  )
})
