import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressOf, changedAddress, flag, many, one, oneOf, readAddress } from '../../src/web/address.ts'

const READERS = { q: one, model: many, conflicting: flag, measure: oneOf('cost', 'tokens') }

const searchOf = (address: string) => address.split('?')[1] ?? ''

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const values = fc.record({
  q: fc.option(text, { nil: undefined }),
  model: fc.array(text),
  conflicting: fc.boolean(),
  measure: fc.constantFrom('cost' as const, 'tokens' as const),
})

test('values that were written to an address are read from it unchanged', () => {
  fc.assert(
    fc.property(values, (written) => {
      expect(readAddress(searchOf(addressOf('/entries', written)), READERS)).toEqual(written)
    }),
  )
})

test('changing some parameters keeps all others, also those of other pages', () => {
  fc.assert(
    fc.property(values, values, (before, { q, model }) => {
      const search = searchOf(addressOf('/entries', { ...before, tab: 'cost' }))
      const changed = searchOf(changedAddress('/entries', search, { q, model }))
      expect(readAddress(changed, { ...READERS, tab: one })).toEqual({ ...before, q, model, tab: 'cost' })
    }),
  )
})

test('an address without values has no query', () => {
  expect(addressOf('/entries', { q: '', model: [], project: undefined, conflicting: false })).toBe('/entries')
  expect(changedAddress('/entries', 'q=login&model=gpt-5', { q: undefined, model: [] })).toBe('/entries')
})

test('an unknown choice in the address is the first one, and only "true" sets a flag', () => {
  expect(readAddress('measure=entries&conflicting=yes', READERS)).toEqual({
    q: undefined,
    model: [],
    conflicting: false,
    measure: 'cost',
  })
})
