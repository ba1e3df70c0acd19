import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { firstCharacters, hasMoreCharacters } from '../../src/lib/characters.ts'

const texts = fc.string({ unit: fc.constantFrom('a', 'é', '👍', '漢'), maxLength: 12 })
const limits = fc.nat(8)

test('a character counts once, however many UTF-16 units it has', () => {
  fc.assert(
    fc.property(texts, limits, (text, limit) => {
      expect(hasMoreCharacters(text, limit)).toBe([...text].length > limit)
    }),
  )
})

test('the beginning of a text ends with a whole character', () => {
  fc.assert(
    fc.property(texts, limits, (text, limit) => {
      const first = firstCharacters(text, limit)
      expect(first).toBe([...text].slice(0, limit).join(''))
      expect(first.isWellFormed()).toBe(true)
    }),
  )
})
