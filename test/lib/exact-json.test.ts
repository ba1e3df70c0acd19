import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { numberText, parseExactJson } from '../../src/lib/exact-json.ts'
import { formatDecimal, parseDecimal } from '../../src/lib/money.ts'
import { runs } from '../support/tier.ts'

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

/** Texts with a number in a place where JSON allows one, and the path to it. */
const PLACES: ((number: string) => [text: string, ...path: string[]])[] = [
  (number) => [`{"cost":${number}}`, 'cost'],
  (number) => [`{"cost":\n\t${number} , "x": 1}`, 'cost'],
  (number) => [`[{"x":"5",\r"cost" : ${number}}]`, '0', 'cost'],
  (number) => [`[1,${number}]`, '1'],
  (number) => [`[${number}]`, '0'],
  (number) => [`[0.1234567890123456, ${number}]`, '1'],
]

test('every digit of a number is kept, wherever it is', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map((double) => JSON.stringify(double)),
    fc
      .tuple(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.integer({ min: 0, max: 30 }))
      .map(([units, digits]) => formatDecimal(units, digits)),
    fc
      .tuple(fc.bigInt(-(10n ** 20n), 10n ** 20n), fc.integer({ min: -30, max: 30 }))
      .map(([units, exponent]) => `${units}E${exponent}`),
  )
  fc.assert(
    fc.property(number, fc.constantFrom(...PLACES), (written, place) => {
      const [text, ...path] = place(written)
      const key = path.pop()!
      const holder = path.reduce((value, step) => value[step] as never, parseExactJson(text) as Record<string, never>)
      const kept = numberText<string>(holder, key)
      expect(parseDecimal(kept, 60)).toBe(parseDecimal(written, 60)!)
    }),
    { numRuns: runs(20_000) },
  )
})

test('a number keeps its digits after very many that a double preserves', () => {
  const numbers = [...Array(20_000).fill('1234567890.123456'), LONG]
  const list = parseExactJson(`[${numbers.join()}]`) as never
  expect(numberText<string>(list, '20000')).toBe(LONG)
})
