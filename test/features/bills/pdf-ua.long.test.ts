/** PDFs conform to PDF/UA-1, as veraPDF checks it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PDF_SAMPLES } from '../../support/pdf-samples.ts'
import { findVeraPdf } from '../../support/verapdf.ts'

/** A Java program is compiled and reads all files. */
const CHECKING_MS = 300_000

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-pdf-'))
})
afterAll(() => rm(folder, { recursive: true }))

const veraPdf = findVeraPdf()

test.skipIf(!veraPdf)(
  'PDFs of every kind conform to PDF/UA-1',
  async () => {
    const paths: string[] = []
    for (const [name, make] of Object.entries(PDF_SAMPLES)) {
      const path = join(folder, `${name}.pdf`)
      await Bun.write(path, await make())
      paths.push(path)
    }
    const { exitCode, stdout, stderr } = Bun.spawnSync([...veraPdf!, ...paths])
    expect({ broken: stdout.toString(), errors: stderr.toString(), exitCode }).toEqual({
      broken: '',
      errors: '',
      exitCode: 0,
    })
  },
  CHECKING_MS,
)
