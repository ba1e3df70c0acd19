import { describe, expect, test } from 'bun:test'
import { readPublicUrl } from '../../src/lib/public-url.ts'

describe('a public URL', () => {
  test.each([
    ['https://tally.example.com', 'https://tally.example.com'],
    ['https://tally.example.com/', 'https://tally.example.com'],
    ['HTTPS://Tally.Example.com:443//', 'https://tally.example.com'],
    ['http://tally.lan:4747', 'http://tally.lan:4747'],
    ['http://[fd00::1]:80', 'http://[fd00::1]'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('%s is stored as links begin with it', (text, url) => {
    expect(readPublicUrl(text)).toEqual({ url })
  })

  test.each([
    ['', 'https://tally.example.com'],
    ['tally.example.com', 'starts with http:// or https://'],
    ['ftp://tally.example.com', 'starts with http:// or https://'],
    ['javascript:alert(1)', 'starts with http:// or https://'],
    ['https://', 'starts with http:// or https://'],
    ['https://tally example.com', 'starts with http:// or https://'],
    ['https://tally.example.com/\n', 'starts with http:// or https://'],
    ['https://ada:secret@tally.example.com', 'user or password'],
    ['https://secret@tally.example.com', 'user or password'],
    ['https://tally.example.com/tally', 'below a path'],
    ['https://tally.example.com/?secret=1', 'below a path'],
    ['https://tally.example.com#secret', 'below a path'],
    [`https://${'a'.repeat(300)}.example`, 'at most 300 characters'],
  ])('is not %j, without repeating it', (text, expected) => {
    const read = readPublicUrl(text) as { issue: string }
    expect(read.issue).toContain(expected)
    expect(read.issue).not.toContain('secret')
  })
})
