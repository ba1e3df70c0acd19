import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { IntegerSum } from '../../src/lib/integer-sum.ts'

const integer = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -9, max: 9 }), fc.constantFrom(2 ** 52, -(2 ** 52)))

test('a sum of integers and products is exact', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(integer, fc.tuple(integer, integer)), { size: '+1' }), (added) => {
      const sum = new IntegerSum()
      let exact = 0n
      for (const each of added) {
        if (typeof each === 'number') {
          sum.add(each)
          exact += BigInt(each)
        } else {
          sum.addProduct(each[0], each[1])
          exact += BigInt(each[0]) * BigInt(each[1])
        }
        if (added.length < 5) expect(sum.value).toBe(exact)
      }
      expect(sum.value).toBe(exact)
    }),
  )
})
