import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import Ajv2020 from 'ajv/dist/2020'
import fc from 'fast-check'
import { standaloneSchema } from '../../src/http/json-schema.ts'
import { acceptingNulls } from '../../src/schema/absent-fields.ts'
import { conditions, exactlyOne, excludes, issuesOfConditions } from '../../src/schema/conditions.ts'
import { strict } from '../../src/schema/types.ts'

const text = Type.Optional(Type.String())
const refused = (pointer: string) => ({ pointer, code: 'refused', message: '' })

test('the issues of conditions are what the document says, null or absent', () => {
  const one = exactlyOne('a', 'b', (code) => ({ ...refused('/a'), code }))
  const none = excludes('c', ['d', 'e'], refused('/c'))
  const schemas = [[one], [none], [one, none]].map((all) =>
    Type.Object({ a: text, b: text, c: text, d: text, e: text }, { ...strict, ...conditions(...all) }),
  )
  const value = fc.constantFrom<unknown>('x', '', null)
  const values = fc.record({ a: value, b: value, c: value, d: value, e: value }, { requiredKeys: [] })
  for (const schema of schemas) {
    const isValid = new Ajv2020().compile(standaloneSchema(acceptingNulls(schema), 'urn:tally:test', 'Test'))
    fc.assert(
      fc.property(values, (given) => {
        expect([given, issuesOfConditions(schema, given).length === 0]).toEqual([given, isValid(given)])
      }),
    )
  }
  const [first] = schemas
  expect(issuesOfConditions(first!, {}).map(({ code }) => code)).toEqual(['required'])
  expect(issuesOfConditions(first!, { a: 'x', b: 'x' }).map(({ code }) => code)).toEqual(['not_allowed'])
})
