import { expect, test } from 'bun:test'
import { numberText, parseExactJson } from '../../src/lib/exact-json.ts'

const LONG = '123456789.123456789'

test('a copy of an object has the exact text of its numbers too', () => {
  const body = parseExactJson(`{"markup": ${LONG}, "name": "x"}`) as { markup: number; name: string }
  const renamed = { ...body, name: 'y' }
  expect(numberText(renamed, 'markup')).toBe(LONG)
  const { name, ...rest } = body
  expect(numberText(rest, 'markup')).toBe(LONG)
})

test('a number that replaces another one in a copy has its own text', () => {
  const body = parseExactJson(`{"markup": ${LONG}}`) as { markup: number }
  expect(numberText({ ...body, markup: 1.5 }, 'markup')).toBe('1.5')
})

test('the text of a number is not part of the object as JSON', () => {
  const body = parseExactJson(`{"markup": ${LONG}}`)
  expect(Object.keys(body as object)).toEqual(['markup'])
  expect(JSON.parse(JSON.stringify(body))).toEqual({ markup: Number(LONG) })
})

test('a number called like a property of every object keeps its text', () => {
  const holder = parseExactJson(`{"constructor": ${LONG}, "toString": 1}`) as never
  expect(numberText<string>(holder, 'constructor')).toBe(LONG)
  expect(numberText<string>(holder, 'toString')).toBe('1')
})
