import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseTimestamp, TIMESTAMP } from '../../src/lib/timestamp.ts'
import { runs } from '../support/tier.ts'

describe('a timestamp', () => {
  test('is read with any offset, to the millisecond', () => {
    expect(parseTimestamp('2026-11-20T10:00:00Z')).toBe(Date.UTC(2026, 10, 20, 10))
    expect(parseTimestamp('2026-11-20t10:00:00.123456789+05:30')).toBe(Date.UTC(2026, 10, 20, 4, 30, 0, 123))
    expect(parseTimestamp('2026-11-20T10:00:00-00:00')).toBe(Date.UTC(2026, 10, 20, 10))
  })

  test('without an offset, or of a day that does not exist, is none', () => {
    const bad = [
      '2026-11-20T10:00:00',
      '2026-11-20',
      '2026-02-29T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-11-20T24:00:00Z',
      '2026-11-20T24:01:00Z',
      '2026-11-20T10:60:00Z',
      '0000-01-01T00:00:00+14:00',
      '9999-12-31T23:59:59-12:00',
      '9999-12-31T23:59:60-12:00',
      '2026-02-30T23:59:60Z',
      '1763632800',
      '2026-11-20T10:00:00+25:00',
      '',
    ]
    expect(bad.filter((text) => parseTimestamp(text) !== undefined)).toEqual([])
  })

  test('may be the 29th of February of a leap year and a leap second', () => {
    expect(parseTimestamp('2028-02-29T00:00:00Z')).toBe(Date.UTC(2028, 1, 29))
    expect(parseTimestamp('2016-12-31T23:59:60Z')).toBe(Date.UTC(2016, 11, 31, 23, 59, 59))
  })

  test('may be in the forms that common tools print', () => {
    const moment = Date.UTC(2026, 10, 20, 17, 53, 4)
    const same = {
      'strftime %z': '2026-11-20T17:53:04+0000',
      'basic format': '20261120T175304Z',
      'basic format with an offset': '20261120T185304+0100',
      'date --rfc-3339': '2026-11-20 17:53:04+00:00',
      'git log --date=iso': '2026-11-20 19:53:04 +0200',
      PostgreSQL: '2026-11-20 17:53:04+00',
      'date --iso-8601=ns': '2026-11-20T17:53:04,000000000+00:00',
    }
    for (const [tool, text] of Object.entries(same)) expect([tool, parseTimestamp(text)]).toEqual([tool, moment])
    expect(parseTimestamp('2026-11-20T17:53Z')).toBe(Date.UTC(2026, 10, 20, 17, 53))
    expect(parseTimestamp('20261120T1753-0530')).toBe(Date.UTC(2026, 10, 20, 23, 23))
    expect(parseTimestamp('2026-11-20T17:53:04,5Z')).toBe(moment + 500)
  })

  test('is none in a mixture of forms, or without an offset in any form', () => {
    const bad = [
      '20261120T175304',
      '2026-11-20T17:53',
      '2026-11-20 17:53:04',
      '202611-20T17:53:04Z',
      '2026-11-20T17:5304Z',
      '2026-11-20T17Z',
      '2026-11-20T17:53,5Z',
      '20260229T000000Z',
      '2026-11-20T17:53:04  +0000',
    ]
    expect(bad.filter((text) => parseTimestamp(text) !== undefined)).toEqual([])
    expect(bad.filter((text) => text !== '20260229T000000Z' && new RegExp(TIMESTAMP, 'u').test(text))).toEqual([])
  })

  test('means the same in every form', () => {
    const moments = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-30'), noInvalidDate: true })
    const forms = fc.record({
      moment: moments,
      separators: fc.boolean(),
      between: fc.constantFrom('T', 't', ' '),
      comma: fc.boolean(),
      offset: fc.constantFrom('Z', 'z', '+00:00', '-0000', '+00', ' +0000'),
    })
    fc.assert(
      fc.property(forms, ({ moment, separators, between, comma, offset }) => {
        const usual = moment.toISOString()
        const [day, time] = usual.slice(0, -1).split('T') as [string, string]
        const text = `${day}${between}${comma ? time.replace('.', ',') : time}`
        const written = separators ? text : text.replaceAll(/[-:]/g, '')
        expect(parseTimestamp(written + offset)).toBe(moment.getTime())
      }),
      { numRuns: runs(200, 100) },
    )
  })
})
