/**
 * A database with the demo data, which take seconds to make: once for all tests, which work on copies. A server has run on
 * it until it had added everything up, which takes longer than most tests need one for.
 */
import { Database as Connection } from 'bun:sqlite'
import { expect } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { CommandLine, type RunningServer } from './command-line.ts'
import { rowsAt } from './databases.ts'
import { sharedFile } from './shared-files.ts'

/** Of all people in it. */
export const DEMO_PASSWORD = 'correct horse battery'

/** Who can sign in. */
export const DEMO_PEOPLE = [
  { email: 'ines.marques@meridian.example', role: 'admin' },
  { email: 'hanna.lindqvist@meridian.example', role: 'billing' },
  { email: 'mara.vogel@meridian.example', role: 'member' },
  { email: 'jonas.weber@meridian.example', role: 'member' },
]

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
    // It adds up three months, which repays the compiler.
    const server = await tally.serve([], { BUN_JSC_useDFGJIT: '1' })
    while ((await rowsAt(tally.location, 'SELECT 1 FROM stale_hours LIMIT 1')).length > 0) await Bun.sleep(50)
    await server.stop()
    return readFileSync(join(tally.dataDir, DATABASE_FILE))
  } finally {
    await tally.remove()
  }
}

/** How many rows each table in the folder has, the migrations among them. */
export function rowCounts(folder: string): Record<string, number> {
  const connection = new Connection(join(folder, 'tally.db'), { readonly: true })
  const names = connection.query("SELECT name FROM sqlite_schema WHERE type = 'table'").values() as string[][]
  const count = (name: string) => connection.query(`SELECT count(*) FROM ${name}`).values()[0]![0] as number
  const counted = Object.fromEntries(names.map(([name]) => [name!, count(name!)]))
  connection.close()
  return counted
}

/** What the running server answers a person. */
export async function signedIn({ url }: RunningServer, email: string, password = DEMO_PASSWORD) {
  const headers = { 'content-type': 'application/json', origin: url }
  const body = JSON.stringify({ email, password })
  const answer = await fetch(`${url}/api/v1/session`, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  const cookie = answer.headers.get('set-cookie')!.split(';', 1)[0]!
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it relies on
  return async (path: string): Promise<any> => (await fetch(`${url}/api/v1${path}`, { headers: { cookie } })).json()
}
