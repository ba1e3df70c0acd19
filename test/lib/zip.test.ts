import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipped } from '../../src/lib/zip.ts'

async function* pieces(...texts: string[]) {
  for (const text of texts) yield new TextEncoder().encode(text)
}

const READ = `
import sys, json, zipfile
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
print(json.dumps([[info.filename, archive.read(info).decode(), list(info.date_time)] for info in archive.infolist()]))
`

test('an archive has the files that were put into it, also empty ones, for other programs', async () => {
  const large = 'a line of text\n'.repeat(40_000)
  const files = [
    { name: 'a.csv', chunks: pieces('first,', 'second\n') },
    { name: 'empty.csv', chunks: pieces() },
    { name: 'Zoë.csv', chunks: pieces(large, large) },
  ]
  const archive = await Array.fromAsync(zipped(files, new Date(2026, 10, 20, 17, 53, 4)))
  const folder = mkdtempSync(join(tmpdir(), 'tally-zip-'))
  try {
    const path = join(folder, 'test.zip')
    writeFileSync(path, Buffer.concat(archive))
    const { stdout, stderr } = Bun.spawnSync(['python3', '-c', READ, path])
    expect(stderr.toString()).toBe('')
    const at = [2026, 11, 20, 17, 53, 4]
    expect(JSON.parse(stdout.toString())).toEqual([
      ['a.csv', 'first,second\n', at],
      ['empty.csv', '', at],
      ['Zoë.csv', large + large, at],
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** Says when it is ended, as a cursor of a database is. */
function endless(ended: () => void) {
  return (async function* () {
    try {
      // Does not compress, so that the archive has something to say.
      for (;;) yield crypto.getRandomValues(new Uint8Array(60_000))
    } finally {
      ended()
    }
  })()
}

test('whoever stops reading an archive ends its files', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let bytes = 0
  for await (const { length } of zipped([{ name: 'endless.csv', chunks: endless(resolve) }], new Date())) {
    bytes += length
    if (bytes > 100_000) break
  }
  await promise
})

test('a file that cannot be made fails the archive', async () => {
  const failing = async function* () {
    yield new TextEncoder().encode('first\n')
    throw new Error('the row is gone')
  }
  const files = [
    { name: 'a.csv', chunks: pieces('a') },
    { name: 'b.csv', chunks: failing() },
  ]
  const reading = Array.fromAsync(zipped(files, new Date()))
  expect(await reading.catch((error) => error.message)).toBe('the row is gone')
})
