import { expect, test } from 'bun:test'
import { localUrl } from '../../src/cli/address.ts'
import { readConfig } from '../../src/config.ts'

test.each([
  ['::1', 'http://[::1]:4747'],
  ['[::1]', 'http://[::1]:4747'],
  ['::', 'http://127.0.0.1:4747'],
  ['0.0.0.0', 'http://127.0.0.1:4747'],
  ['tally.example.com', 'http://tally.example.com:4747'],
])('a server that listens on %s is called at %s', (host, url) => {
  expect(localUrl(readConfig({ host }, {}).host, 4747)).toBe(url)
})
