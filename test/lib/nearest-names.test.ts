import { expect, test } from 'bun:test'
import { nearestNames } from '../../src/lib/nearest-names.ts'

const NAMES = ['acme-web', 'acme-api', 'Globex', 'ACME', 'shop']

test('a name with a typo is near: a wrong, missing, further or swapped letter', () => {
  for (const typed of ['acme-wbe', 'acmeweb', 'acme-weeb', 'Acme_web', ' ACME-WEB ']) {
    expect([typed, nearestNames(typed, NAMES)[0]]).toEqual([typed, 'acme-web'])
  }
  expect(nearestNames('gloebx', NAMES)).toEqual(['Globex'])
})

test('a part of a name is near, something else is not', () => {
  expect(nearestNames('acme', NAMES)).toEqual(['ACME', 'acme-api', 'acme-web'])
  for (const typed of ['initech', 'x', '', 'a']) expect([typed, nearestNames(typed, NAMES)]).toEqual([typed, []])
})

test('a mistyped word of a name is near', () => {
  expect(nearestNames('acne', ['Acme Ltd', 'Globex', 'Acorn'])).toEqual(['Acme Ltd'])
  expect(nearestNames('glbex', ['The Globex Company', 'Acme Ltd'])).toEqual(['The Globex Company'])
  expect(nearestNames('lt', ['Acme Ltd'])).toEqual([])
})

test('three names are suggested at most, and a long text takes no longer than its beginning', () => {
  const many = Array.from({ length: 50 }, (_, index) => `project-${index}`)
  expect(nearestNames('project-', many)).toHaveLength(3)
  expect(nearestNames('x'.repeat(100_000), ['x'.repeat(64)])).toHaveLength(1)
})
