import { describe, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { issuesOf } from '../../src/schema/issues.ts'
import { LABEL_NAMES, named } from '../../src/schema/types.ts'

const checker = TypeCompiler.Compile(
  Type.Object(
    {
      count: Type.Integer({ minimum: 0, maximum: 10 }),
      cost: Type.Optional(Type.Number({ minimum: 0 })),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
      key: Type.Optional(Type.String({ pattern: '^[a-z]+$', errorMessage: 'must be small letters' })),
      plain: Type.Optional(Type.String({ pattern: '^x$' })),
      flag: Type.Optional(Type.Boolean()),
      kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
      only: Type.Optional(Type.Literal('this')),
      list: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 2 })),
      labels: Type.Optional(named(LABEL_NAMES, 1, Type.String())),
      any: Type.Optional(Type.Record(Type.String(), Type.String(), { minProperties: 1, maxProperties: 1 })),
      once: Type.Optional(Type.Array(Type.Integer(), { uniqueItems: true })),
      rate: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
      letter: Type.Optional(Type.String({ maxLength: 1 })),
      inner: Type.Optional(Type.Object({ a: Type.Null() }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  ),
)

const issues = (value: unknown) =>
  issuesOf(checker, value).map(({ pointer, code, message }) => `${pointer} ${code}: ${message}`)

describe('an issue has a position, a code and advice', () => {
  const cases: [string, unknown, string[]][] = [
    ['nothing to say of what fits', { count: 1 }, []],
    ['something else than an object', [], [' wrong_type: must be an object']],
    ['a missing field, told once', {}, ['/count required: is required']],
    [
      'an unknown field',
      { count: 1, cuont: 2 },
      ['/cuont unknown_field: is not a known field; see /docs/api for the list'],
    ],
    ['a number as text', { count: '5' }, ['/count wrong_type: must be an integer, as a JSON number']],
    ['a fraction', { count: 1.5 }, ['/count not_an_integer: must be a whole number']],
    ['too little', { count: -1 }, ['/count too_small: must be at least 0']],
    ['too much', { count: 11 }, ['/count too_large: must be at most 10']],
    ['a number that is none', { count: 1, cost: null }, ['/cost wrong_type: must be a number']],
    ['an empty text', { count: 1, name: '' }, ['/name too_short: must not be empty']],
    ['a long text', { count: 1, name: 'abcd' }, ['/name too_long: must have at most 3 characters']],
    [
      'a text of another form, in the words of its schema',
      { count: 1, key: 'A' },
      ['/key bad_format: must be small letters'],
    ],
    ['the same for another type', { count: 1, key: 1 }, ['/key wrong_type: must be small letters']],
    ['a form without words', { count: 1, plain: 'y' }, ['/plain bad_format: must be a match for ^x$']],
    ['no boolean', { count: 1, flag: 'true' }, ['/flag wrong_type: must be a boolean']],
    ['one of several values', { count: 1, kind: 'c' }, ['/kind not_allowed: must be one of a, b']],
    ['the one value', { count: 1, only: 'that' }, ['/only not_allowed: must be one of this']],
    ['too few', { count: 1, list: [] }, ['/list too_few: must have at least 1 item']],
    ['too many', { count: 1, list: [1, 2, 3] }, ['/list too_many: must have at most 2 items']],
    ['an item', { count: 1, list: [1, 'x'] }, ['/list/1 wrong_type: must be an integer, as a JSON number']],
    ['too many names', { count: 1, labels: { a: '', b: '' } }, ['/labels too_many: must have at most 1 label']],
    [
      'a name of another form',
      { count: 1, labels: { 'Foo Bar': '' } },
      ['/labels/Foo Bar unknown_field: is not a valid name of a label: use 1 to 64 of the characters a-z 0-9 _ . -'],
    ],
    ['too many fields', { count: 1, any: { a: '', b: '' } }, ['/any too_many: must have at most 1 field']],
    ['too few fields', { count: 1, any: {} }, ['/any too_few: must have at least 1 field']],
    ['a value twice', { count: 1, once: [1, 1] }, ['/once not_unique: must not contain a value twice']],
    ['a number that is not above the limit', { count: 1, rate: 0 }, ['/rate too_small: must be more than 0']],
    [
      'a text of more than one character',
      { count: 1, letter: 'ab' },
      ['/letter too_long: must have at most 1 character'],
    ],
    [
      'a name with / and ~',
      { count: 1, 'a/b~c': 1 },
      ['/a~1b~0c unknown_field: is not a known field; see /docs/api for the list'],
    ],
  ]
  for (const [name, value, told] of cases) test(name, () => expect(issues(value)).toEqual(told))
})

test('all issues are returned, at any depth', () => {
  expect(issues({ cost: -1, inner: { a: 1, b: 2 } })).toEqual([
    '/count required: is required',
    '/cost too_small: must be at least 0',
    '/inner/b unknown_field: is not a known field; see /docs/api for the list',
    '/inner/a wrong_type: must be a null',
  ])
})

describe('a value that may be null is explained like one that may not', () => {
  const nullable = TypeCompiler.Compile(
    Type.Object({
      cost: Type.Union([Type.Number({ minimum: 0, maximum: 10 }), Type.Null()]),
      name: Type.Union([Type.Null(), Type.String({ minLength: 1 })]),
      inner: Type.Union([Type.Object({ kind: Type.Union([Type.Integer(), Type.Null()]) }), Type.Null()]),
      own: Type.Union([Type.Number(), Type.Null()], { errorMessage: 'must be a number, or null for none' }),
    }),
  )
  const valid = { cost: null, name: null, inner: null, own: null }
  test.each([
    [{}, []],
    [{ cost: -1 }, ['/cost too_small: must be at least 0']],
    [{ cost: 1e20 }, ['/cost too_large: must be at most 10']],
    [{ cost: '1' }, ['/cost wrong_type: must be a number']],
    [{ name: '' }, ['/name too_short: must not be empty']],
    [{ inner: { kind: 0.5 } }, ['/inner/kind not_an_integer: must be a whole number']],
    [{ own: '1' }, ['/own not_allowed: must be a number, or null for none']],
  ])('%j', (change, told) => {
    const found = issuesOf(nullable, { ...valid, ...change })
    expect(found.map(({ pointer, code, message }) => `${pointer} ${code}: ${message}`)).toEqual(told)
  })

  test('also if it is missing', () => {
    const { inner: _, ...others } = valid
    expect(issuesOf(nullable, others)).toEqual([{ pointer: '/inner', code: 'required', message: 'is required' }])
  })
})

test('no value is ever repeated', () => {
  const secret = 'hunter2'
  const value = { count: secret, key: secret.toUpperCase(), kind: secret, list: [secret], name: secret, inner: secret }
  expect(JSON.stringify(issues(value)).toLowerCase()).not.toContain(secret)
})

test('a body of nothing but issues is answered with fifty', () => {
  expect(issues(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1])))).toHaveLength(50)
})

test('pointers start at the root of the request', () => {
  expect(issuesOf(checker, {}, '/query')[0]!.pointer).toBe('/query/count')
})
