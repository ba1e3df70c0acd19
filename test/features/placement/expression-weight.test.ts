import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { compileCondition } from '../../../src/features/placement/condition.ts'
import { weightOf } from '../../../src/features/placement/expression-weight.ts'
import { sizeOf } from '../../../src/features/placement/rule-issues.ts'

test('the weight of an expression is counted without compiling it', () => {
  for (const [matches, weight] of [
    ['acme/*', 0],
    ['/(?<ticket>ACME-[0-9]+)/', 8],
    ['/a{3}/i', 3],
    ['/(ab){2,5}c/', 25],
    ['/((a{1,30}){1,30}){1,30}/', 208_919],
    ['/(?:a{20}){20}{20}/', 8_400],
    ['/\\pL\\p{Greek}{10}/', 220],
    ['/[\\pL\\PN]{2}/', 82],
    ['/[]a]{7}/', 7],
    ['/\\{9}/', 3],
    ['/\\x{41}{5}/', 5],
    ['/\\Q(a{9}\\E/', 5],
    ['/a{0,9}b{3,}/', 21],
    [`/[${'a'.repeat(62)}]/`, 5],
    ['/(?i)a/', 2],
    ['/a{9}/b/', 11],
  ] as const) {
    expect([matches, weightOf(matches, 20)]).toEqual([matches, weight])
  }
})

const atom = fc.constantFrom(
  'a',
  '.',
  '\\w',
  '[a-f0-9]',
  '\\d',
  '\\{',
  '\\x{41}',
  '(?:ab|cd)',
  '(x)',
  '\\pL',
  '[[:alpha:]]',
)
const times = fc.constantFrom('', '', '+', '*', '?', '{3}', '{2,6}', '{4,}')
const item = fc.tuple(atom, times).map((parts) => parts.join(''))
const items = fc.array(item, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
const groups = fc.array(
  fc.tuple(items, times).map(([inner, n]) => `(?:${inner})${n}`),
  { minLength: 1, maxLength: 3 },
)

test('an expression has few instructions beyond its weight', () => {
  fc.assert(
    fc.property(groups, (parts) => {
      const matches = `/${parts.join('')}/`
      // `+`, `*` and `?` add one, and so do the ends of alternatives.
      expect(sizeOf(compileCondition({ field: 'summary', matches }))).toBeLessThanOrEqual(3 * weightOf(matches, 1) + 3)
    }),
  )
})
