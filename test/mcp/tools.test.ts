import { expect, test } from 'bun:test'
import { parseRawJson } from '../../src/lib/exact-json.ts'
import { cut, limited, shown, shownSchema } from '../../src/mcp/shown.ts'
import { TOOLS } from '../../src/mcp/tools.ts'
import { amountIn, integer, money, number, object, orNull } from '../../src/schema/types.ts'

/** Numbers that are no amounts, by the end of their place. */
const PLAIN_NUMBERS = [
  ...['exchange_rate', 'percent', 'markup', 'active_seconds', 'duration', 'multiplier', 'remaining_tokens'],
  // Prices of a million tokens, as a price table shows them.
  ...['parts.price', 'tools.price', 'price.input', 'price.output', 'price.cache_read', 'price.cache_write'],
]

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
  anyOf?: Schema[]
}

function numbersIn(schema: Schema, place = ''): string[] {
  const inner = [
    ...Object.entries({ ...schema.properties, ...schema.patternProperties }),
    ...[schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])]
      .filter(Boolean)
      .map((one) => ['', one] as const),
  ] as [string, Schema][]
  const here = schema.type === 'number' ? [place] : []
  return [...here, ...inner.flatMap(([name, one]) => numbersIn(one, name === '' ? place : `${place}.${name}`))]
}

test('no tool returns an amount as a number', () => {
  for (const { name, output } of TOOLS) {
    const others = numbersIn(output as Schema).filter(
      (place) => !PLAIN_NUMBERS.some((end) => place.endsWith(`.${end}`)),
    )
    expect([name, others]).toEqual([name, []])
  }
})

test('schemas of tools are whole, strict, and of a size that fits beside a question', () => {
  for (const { name, input, output } of TOOLS) {
    const text = JSON.stringify([input, output])
    expect([name, text.includes('$ref'), text.includes('x-'), input.additionalProperties]).toEqual([
      name,
      false,
      false,
      false,
    ])
    expect([name, JSON.stringify(input).length < 8_000]).toEqual([name, true])
  }
  expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length)
})

test('amounts have all their digits, their currency or measure, and are unknown if they are', () => {
  const schema = object({
    currency: object({}),
    cost: orNull(money('Cost.')),
    total: amountIn('currency'),
    entries: integer('Count.'),
    share: number('Share.'),
  })
  const read = (json: string) => shown(schema, parseRawJson(json)) as Record<string, unknown>
  const of = (cost: string) => read(`{"cost":${cost}}`).cost
  expect(
    ['0', '1552.784', '-3', '0.000000001', '-0.0004', '123456789012345678.999999999', '0.995', 'null'].map(of),
  ).toEqual([
    ...['$0.00', '$1,552.78', '-$3.00', '$0.000000001', '-$0.0004', '$123,456,789,012,345,679.00', '$1.00', 'unknown'],
  ])
  expect(read('{"currency":"JPY","total":1234567,"entries":1200,"share":0.5,"secret":1}')).toEqual({
    currency: 'JPY',
    total: 'JPY 1,234,567',
    entries: 1200,
    share: 0.5,
  })
  expect(shownSchema(schema).properties.cost).toMatchObject({ type: 'string' })
})

test('a field that an answer does not have cannot be kept, and long lists say what they leave out', () => {
  const schema = object({ a: object({ b: integer('B.'), c: integer('C.') }) })
  expect(shown(cut(schema, ['a.b']), { a: { b: 1, c: 2 } })).toEqual({ a: { b: 1 } })
  expect(() => cut(schema, ['a.d'])).toThrow('no field d')
  const list = Array.from({ length: 60 }, (_, at) => at)
  expect(limited({ a: { b: list } })).toEqual({ a: { b: list.slice(0, 50) }, not_shown: { 'a.b': 10 } })
})

test('the manual lists the tools in their order', async () => {
  const page = await Bun.file('docs/integrate/mcp.md').text()
  expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(TOOLS.map(({ name }) => name))
})
