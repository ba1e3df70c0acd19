/**
 * A database with the demo data, which take seconds to make: once for all tests, which work on copies. A server has run on
 * it until it had added everything up, which takes longer than most tests need one for.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { CommandLine } from './command-line.ts'
import { rowsAt } from './databases.ts'
import { sharedFile } from './shared-files.ts'

/** Of all people in it. */
export const DEMO_PASSWORD = 'correct horse battery'

/** The content of its file. */
export const demoDatabase = (): Promise<Uint8Array> => sharedFile('demo.db', make)

/** Creates the database in a folder. */
export async function copyDemo(dataDir: string): Promise<void> {
  const content = await demoDatabase()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(join(dataDir, DATABASE_FILE), content, { mode: 0o600 })
}

async function make(): Promise<Uint8Array> {
  const tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  try {
    await tally.json(['demo', '--password-stdin'], { stdin: DEMO_PASSWORD })
    const server = await tally.serve()
    while ((await rowsAt(tally.location, 'SELECT 1 FROM stale_hours LIMIT 1')).length > 0) await Bun.sleep(50)
    await server.stop()
    return readFileSync(join(tally.dataDir, DATABASE_FILE))
  } finally {
    await tally.remove()
  }
}
