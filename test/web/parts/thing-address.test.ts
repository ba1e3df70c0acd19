import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { one, readAddress } from '../../../src/web/address.ts'
import { addressOfGroup, addressOfThing, thingAt } from '../../../src/web/parts/thing-address.ts'

const ORIGIN = 'https://tally.example'

test('a name is read from the address of its page as it is, and leads nowhere else', () => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('..', '../a%2Fb', '__proto__', '\u202e', 'a/b?c#d&e=f', '%25'),
  )
  fc.assert(
    fc.property(fc.constantFrom('agent' as const, 'model' as const, 'session' as const), name, (kind, name) => {
      const { pathname, search, origin } = new URL(addressOfThing(kind, name), ORIGIN)
      expect([origin, pathname]).toEqual([ORIGIN, `/usage/${kind}`])
      expect(readAddress(search, { name: one }).name).toBe(name)
    }),
  )
})

test('the address of the page of a thing says which one it is', () => {
  const kinds = ['client', 'project', 'ticket', 'person', 'agent', 'model', 'session'] as const
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.string({ minLength: 1 }), (kind, key) => {
      const [path, search = ''] = addressOfThing(kind, key).split('?')
      expect(thingAt(path!, search)).toEqual({ kind, key })
    }),
  )
  for (const path of ['/work', '/work/clients/', '/work/clients/%', '/work/clients/a/b', '/usage/agent', '/usage/x']) {
    expect(thingAt(path, '')).toBeUndefined()
  }
})

test('a group of a report leads to its page in the same period, and one without a value nowhere', () => {
  expect(addressOfGroup('agent_manager', 'usr_1', 'last-month')).toBe('/usage/people/usr_1?period=last-month')
  expect(addressOfGroup('model', 'gpt 5', undefined)).toBe('/usage/model?name=gpt+5')
  expect(addressOfGroup('model', null, '30d')).toBeUndefined()
  for (const dimension of ['provider', 'label:branch', '__proto__', 'constructor']) {
    expect(addressOfGroup(dimension, 'x', undefined)).toBeUndefined()
  }
})
