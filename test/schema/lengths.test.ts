/** That TypeBox counts characters as JSON Schema does, with `patches/`: its own count is of UTF-16 units. */
import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import Ajv2020 from 'ajv/dist/2020'
import fc from 'fast-check'
import { SchemaChecker } from '../../src/schema/checker.ts'
import { issuesOf } from '../../src/schema/issues.ts'

const texts = fc.string({ unit: fc.constantFrom('a', 'é', '👍'), maxLength: 12 })
const limits = fc.record({ minLength: fc.nat(6), maxLength: fc.nat(8) })

test('the lengths of a schema are in characters, compiled or not, as JSON Schema says', () => {
  const ajv = new Ajv2020()
  fc.assert(
    fc.property(texts, limits, (text, options) => {
      for (const schema of [Type.String(options), Type.RegExp(/./su, options)]) {
        const expected = ajv.validate({ type: 'string', ...options, ...(schema.source && { pattern: '[^]' }) }, text)
        const checker = new SchemaChecker(schema)
        const found = [checker.Check(text), Value.Check(schema, text), issuesOf(checker, text).length === 0]
        expect([text, options, found]).toEqual([text, options, [expected, expected, expected]])
      }
    }),
  )
})
