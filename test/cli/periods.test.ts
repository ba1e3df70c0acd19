import { describe, expect, test } from 'bun:test'
import { Command } from 'commander'
import { addDayAndEarlierFlags, dayTexts } from '../../src/cli/flags/period.ts'

function textsOf(...args: string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  return dayTexts(addDayAndEarlierFlags(command, 'sessions that started').parse(args, { from: 'user' }).opts())
}

describe('a period of the command line', () => {
  test('includes both of its days', () => {
    expect(textsOf('--from', '2026-11-01', '--to', '2026-11-30')).toEqual({
      starting_at: '2026-11-01',
      ending_at: '2026-12-01',
    })
    expect(textsOf('--from', '2026-11-20', '--to', '2026-11-20')).toEqual({
      starting_at: '2026-11-20',
      ending_at: '2026-11-21',
    })
    expect(textsOf()).toEqual({ starting_at: undefined, ending_at: undefined })
  })

  test('has exact timestamps, too', () => {
    const [from, to] = ['2026-11-01T08:00:00+01:00', '20261101T100000Z']
    expect(textsOf('--from', from, '--to', to)).toEqual({ starting_at: from, ending_at: to })
  })

  test('may be given by the flags of earlier versions, whose end is not included', () => {
    expect(textsOf('--starting-at', '2026-11-01', '--ending-at', '2026-12-01')).toEqual({
      starting_at: '2026-11-01',
      ending_at: '2026-12-01',
    })
    expect(() => textsOf('--from', '2026-11-01', '--starting-at', '2026-11-01')).toThrow('cannot be used with')
  })

  test('is refused with its flag if it is none, or backwards', () => {
    for (const text of ['', '2026-02-30', '2026-11', 'noon', '2026-11-01T08:00:00']) {
      expect(() => textsOf('--to', text)).toThrow('--to <day>')
    }
    expect(() => textsOf('--from', '2026-11-02', '--to', '2026-11-01')).toThrow('--to must not be earlier than --from')
  })
})
