/** An empty, migrated SQLite database for all tests. Copying it takes a third of the time of creating it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../../src/database/database.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { sharedFile } from './shared-files.ts'

/** Creates the file of a database in a folder, with the embedded prices if wanted. */
export async function copySqliteTemplate(folder: string, { priced = false } = {}): Promise<void> {
  const content = await (priced
    ? sharedFile('started.db', () => migratedFile(loadPrices))
    : sharedFile('empty.db', () => migratedFile()))
  writeFileSync(join(folder, DATABASE_FILE), content, { mode: 0o600 })
}

/**
 * Creates the folder of a database as a server leaves it that was only started: with the embedded prices, which take longer
 * to load than everything else in most tests of an executable.
 */
export async function copyStartedTemplate(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { mode: 0o700 })
  await copySqliteTemplate(dataDir, { priced: true })
}

/** Imported only where needed, because to read all services takes a second. */
export async function loadPrices(db: Database): Promise<void> {
  const { createServices } = await import('../../src/services.ts')
  const webhooks = { privateNetworks: [], localUrl: () => 'https://tally.example.com' }
  await createServices({ db, clock: systemClock, webhooks }).prices.loadDefaultPrices()
}

/** The content of the file: `bun test` runs nothing at its end that could remove a file. */
async function migratedFile(fill = async (_: Database) => {}): Promise<Uint8Array> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-test-'))
  const db = await openDatabase({ clock: systemClock, dataDir })
  await fill(db)
  await db.close()
  const content = readFileSync(join(dataDir, DATABASE_FILE))
  rmSync(dataDir, { recursive: true })
  return content
}
