import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseEnvironmentFile } from '../../src/lib/environment-file.ts'

test('a file of variables is read as systemd reads it', () => {
  const text = String.raw`
# TALLY_HOST=0.0.0.0
; TALLY_HOST=0.0.0.0 \
  TALLY_PORT = 8080  
TALLY_EMPTY=
TALLY_QUOTED="two  words # no comment" 'and more'
TALLY_SINGLE='a\b "c"'
TALLY_ESCAPED="a \"b\" \\ \$HOME \n"
TALLY_BARE=a#b c\ d "e"\
f
TALLY_LINES="first
second \
third"
TALLY_ENDS=kept\ 
export TALLY_EXPORTED=1
2TALLY=1
no assignment
TALLY_TWICE=first
TALLY_TWICE=second
TALLY_LAST=end`
  expect(parseEnvironmentFile(text)).toEqual({
    TALLY_PORT: '8080',
    TALLY_EMPTY: '',
    TALLY_QUOTED: 'two  words # no commentand more',
    TALLY_SINGLE: 'a\\b "c"',
    TALLY_ESCAPED: 'a "b" \\ $HOME \\n',
    TALLY_BARE: 'a#b c d "e"f',
    TALLY_LINES: 'first\nsecond third',
    TALLY_ENDS: 'kept ',
    TALLY_TWICE: 'second',
    TALLY_LAST: 'end',
  })
})

test('any value can be written in single or in double quotes, also with line breaks as Windows writes them', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '$', '`', '#', '=', '\n', 'é'), maxLength: 12 })
  fc.assert(
    fc.property(text, fc.constantFrom('\n', '\r\n'), (value, end) => {
      const double = value.replaceAll(/["\\`$]/g, '\\$&')
      const file = [`A='${value}'`, `B="${double}"`, 'C=after', ''].join(end)
      expect(parseEnvironmentFile(file)).toEqual({ A: value, B: value, C: 'after' })
    }),
  )
})
