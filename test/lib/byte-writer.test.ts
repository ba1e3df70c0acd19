import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ByteWriter, plainCharacters } from '../../src/lib/byte-writer.ts'
import { formatDecimal, NANO_DIGITS } from '../../src/lib/money.ts'

const PLAIN = plainCharacters({ except: '"\\' })

/** Writes between other bytes, which must stay as they are. */
function written(write: (writer: ByteWriter) => void): string {
  const writer = new ByteWriter()
  writer.ascii('<')
  write(writer)
  writer.ascii('>')
  return new TextDecoder().decode(writer.take()).slice(1, -1)
}

test('amounts of 64 bits are written as decimal numbers', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.integer({ min: 0, max: 9 }), (nanos, zeros) => {
      const round = (nanos / 10n ** BigInt(zeros)) * 10n ** BigInt(zeros)
      const [dollars, rest] = [Number(round / 1_000_000_000n), Number(round % 1_000_000_000n)]
      expect(written((writer) => writer.money(dollars, rest))).toBe(formatDecimal(round, NANO_DIGITS))
    }),
  )
})

test('whole numbers are written with all digits', () => {
  const around = fc
    .integer({ min: 0, max: 15 })
    .chain((power) => fc.integer({ min: -2, max: 2 }).map((more) => Math.max(0, 10 ** power + more)))
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeNat(), around), (number) => {
      expect(written((writer) => writer.integer(number))).toBe(String(number))
    }),
  )
})

test('timestamps are written as in JSON, also before 1970 and after the year 9999', () => {
  const writer = new ByteWriter()
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800_000, max: 260_000_000_000_000 }), (moment) => {
      writer.timestamp(moment)
      expect(new TextDecoder().decode(writer.take())).toBe(new Date(moment).toISOString())
    }),
  )
})

test('texts are written as UTF-8, and plain ones only if all their characters are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (text) => {
      expect(written((writer) => writer.text(text))).toBe(text)
      const isPlain = /^[ !#-[\]-\u007f]*$/.test(text)
      expect(written((writer) => expect(writer.plain(text, PLAIN)).toBe(isPlain))).toBe(isPlain ? text : '')
      expect(written((writer) => expect(writer.quoted(text, PLAIN)).toBe(isPlain))).toBe(isPlain ? `"${text}"` : '')
    }),
  )
})

test('the buffer grows with what is written, and is used again', () => {
  const writer = new ByteWriter()
  const text = 'ä€🙂'.repeat(1_000)
  for (let round = 0; round < 2; round += 1) {
    for (let at = 0; at < 100; at += 1) writer.text(text)
    expect(new TextDecoder().decode(writer.take())).toBe(text.repeat(100))
    expect(writer.length).toBe(0)
  }
})
