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
  const archive = await Array.fromAsync(zipped(files, new Date('2026-11-20T17:53:04Z')))
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
