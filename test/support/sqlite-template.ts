/** An empty, migrated SQLite database for all tests. Copying it takes a tenth of the time of migrating. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { sharedFile } from './shared-files.ts'

/** Creates the file of a database in a folder. */
export async function copySqliteTemplate(folder: string): Promise<void> {
  writeFileSync(join(folder, DATABASE_FILE), await sharedFile('empty.db', migratedFile), { mode: 0o600 })
}

/** The content of the file: `bun test` runs nothing at its end that could remove a file. */
async function migratedFile(): Promise<Uint8Array> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-test-'))
  await (await openDatabase({ clock: systemClock, dataDir })).close()
  const content = readFileSync(join(dataDir, DATABASE_FILE))
  rmSync(dataDir, { recursive: true })
  return content
}
