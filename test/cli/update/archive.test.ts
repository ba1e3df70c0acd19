/** The archive of a release, as far as it may be another. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { unpack } from '../../../src/cli/update/archive.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-archive-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function archiveOf(executable: Buffer): Promise<string> {
  const archive = pack()
  archive.entry({ name: 'tally-1.0.0/tally' }, executable)
  archive.finalize()
  const path = join(folder, 'archive.tar.gz')
  await writeFile(path, gzipSync(Buffer.concat(await Array.fromAsync(archive as AsyncIterable<Buffer>))))
  return path
}

test('an archive that expands to far more than a release is not unpacked to its end', async () => {
  const bomb = await archiveOf(Buffer.alloc(256 * 1_048_576))
  const error: unknown = await unpack(bomb, 'tally-1.0.0', join(folder, 'bomb')).catch((caught) => caught)
  expect((error as Error).message).toContain('it expands to more than 200 times its size. Nothing was changed.')
  const release = await archiveOf(Buffer.from(crypto.getRandomValues(new Uint8Array(65_536))))
  expect(await unpack(release, 'tally-1.0.0', join(folder, 'tally'))).toEqual(new Map())
})
