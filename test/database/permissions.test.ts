import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withServices } from '../../src/cli/with-services.ts'
import { findExposed, protect } from '../../src/database/permissions.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-permissions-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = () => join(folder, 'tally.db')
const modes = () => [folder, file()].map((path) => (statSync(path).mode & 0o7777).toString(8))
const folders = () => ({ dataDir: folder, backups: folder })

describe('others cannot read the database', () => {
  test.each([0o755, 0o777, 0o775, 0o2755])('that a command creates in a folder of mode %o', async (mode) => {
    chmodSync(folder, mode)
    await withServices({ data: folder }, async () => {}, { creates: true })
    expect(modes().map((text) => text.slice(-3))).toEqual(['700', '600'])
  })

  test('in a folder that contains other files, which stays as it is', () => {
    writeFileSync(join(folder, 'notes.txt'), '')
    writeFileSync(file(), '')
    chmodSync(folder, 0o755)
    chmodSync(file(), 0o644)
    expect(protect(folders())).toEqual({ changed: [file()], exposed: [folder] })
    expect(modes()).toEqual(['755', '600'])
  })
})

describe('a folder that was given to a group on purpose (g+rwxs)', () => {
  test('keeps what the group was given, and others get nothing', () => {
    writeFileSync(file(), '')
    chmodSync(file(), 0o664)
    chmodSync(folder, 0o2775)
    protect(folders())
    expect(modes()).toEqual(['2770', '660'])
    expect(findExposed(folders())).toEqual([])
  })

  test('gives nothing more to the group', async () => {
    chmodSync(folder, 0o2770)
    await withServices({ data: folder }, async () => {}, { creates: true })
    expect(modes()).toEqual(['2770', '600'])
  })
})
