import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { issueOfLabels, labelsOf, labelsText } from '../../../src/web/parts/labels-text.ts'

const name = fc.stringMatching(/^[a-z0-9_.-]{1,20}$/)
const value = fc.stringMatching(/^[^\s](?:[^\n\r]{0,30}[^\s])?$/)

test('labels that are edited without a change stay as they are', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (labels) => {
      expect(issueOfLabels(labelsText(labels))).toBeNull()
      expect(labelsOf(labelsText(labels))).toEqual(labels)
    }),
  )
})

test('a value may contain an equals sign, and spaces around names and values do not count', () => {
  expect(labelsOf('branch=a=b\n\n repository = acme/web ')).toEqual({ branch: 'a=b', repository: 'acme/web' })
})

test('a line without an equals sign is an issue', () => {
  expect([issueOfLabels('a=b\n'), issueOfLabels('a=b\nc')]).toEqual([
    null,
    'Enter each label as name=value, one per line.',
  ])
})
