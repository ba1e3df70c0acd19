/** Tasks of another process in database tests: `bun other-process.ts <task> <input as JSON>`. */
import { Database as Connection } from 'bun:sqlite'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { migratePostgres, migrateSqlite } from '../../src/database/schema/migrate.ts'
import { Problem } from '../../src/errors.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Location } from './databases.ts'
import { clientFor } from './postgres-server.ts'
import { runs } from './tier.ts'

/** An unreleased migration; it fails if it is applied twice. */
export const NEXT: Migration = {
  version: MIGRATIONS.at(-1)!.version + 1,
  name: 'next',
  sql: {
    sqlite: 'CREATE TABLE next (id INTEGER PRIMARY KEY) STRICT; INSERT INTO next VALUES (1);',
    postgres: 'CREATE TABLE next (id bigint PRIMARY KEY); INSERT INTO next VALUES (1);',
  },
}

/** The same as a migration after which this version can go on. */
export const EXPANDING: Migration = { ...NEXT, compatibleFrom: MIGRATIONS.at(-1)!.version }

/** Applies migrations with the engine of the location. */
export async function migrateAt(
  { dataDir, databaseUrl }: Location,
  migrations: Migration[],
  now = Date.now(),
): Promise<void> {
  if (!databaseUrl) return migrateSqlite(join(dataDir, DATABASE_FILE), now, migrations)
  const client = clientFor(databaseUrl)
  try {
    await migratePostgres(client, 'The database of this test', now, { migrations })
  } finally {
    await client.end()
  }
}

const TASKS = {
  async open(location: Location) {
    const db = await openDatabase({ ...location, clock: systemClock })
    await db.close()
  },

  async upgrade(location: Location) {
    await migrateAt(location, [...MIGRATIONS, NEXT])
  },

  /** Changes cached data. */
  async rename(location: Location) {
    const db = await openDatabase({ ...location, clock: systemClock })
    await db.write((tx) => tx.update(tx.tables.organization).set({ name: 'Renamed' }).returning())
    await db.close()
  },

  /** Prints each name once it is acknowledged, until it is killed. */
  async acknowledge(location: Location) {
    const db = await openDatabase({ ...location, clock: systemClock })
    for (let number = 1; ; number += 1) {
      await db.write((tx) =>
        tx
          .insert(tx.tables.names)
          .values({ text: `name ${number}` })
          .returning(),
      )
      process.stdout.write(`${number}\n`)
    }
  },

  /** Holds the write lock until its standard input ends. */
  async lock({ dataDir }: Location) {
    const connection = new Connection(join(dataDir, DATABASE_FILE))
    connection.run('BEGIN IMMEDIATE')
    process.stdout.write('locked\n')
    await Bun.stdin.text()
    connection.run('ROLLBACK')
  },

  /** Writes on a full disk, and again when it has space. `dataDir` must have a few megabytes. */
  async fillDisk({ dataDir }: Location) {
    const db = await openDatabase({ dataDir, clock: systemClock })
    const insert = (text: string) =>
      db
        .write((tx) => tx.insert(tx.tables.names).values({ text }).returning())
        .then(
          () => 'written',
          (error: unknown) => (error instanceof Problem ? error.code : `${error}`),
        )
    const stored = async () => (await db.read.select().from(db.read.tables.names)).map((row) => row.text.slice(0, 6))
    await insert('before')
    const ballast = join(dataDir, 'ballast')
    fill(ballast)
    const together = await Promise.all([insert('first'), insert('large '.repeat(100_000)), insert('last')])
    const read = await stored()
    rmSync(ballast)
    const again = await insert('after')
    console.log(JSON.stringify({ together, read, again, stored: await stored() }))
    await db.close()
  },
}

/** Uses all free space, to the last block. */
function fill(path: string): void {
  for (const bytes of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(bytes), { flag: 'a' })
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error
    }
  }
}

export function commandFor(task: keyof typeof TASKS, location: Location): string[] {
  return [process.execPath, import.meta.path, task, JSON.stringify(location)]
}

export function inOtherProcess(task: keyof typeof TASKS, location: Location) {
  return Bun.spawn(commandFor(task, location), { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
}

/** As many start together. */
export const PROCESSES = runs(8, 3)

/** Runs the task in some processes that start together. Returns their standard error. */
export async function inManyProcesses(task: keyof typeof TASKS, location: Location): Promise<string[]> {
  const processes = Array.from({ length: PROCESSES }, () => inOtherProcess(task, location))
  return Promise.all(processes.map((child) => child.stderr.text()))
}

if (import.meta.main) {
  const [task, location] = process.argv.slice(2) as [keyof typeof TASKS, string]
  await TASKS[task](JSON.parse(location))
  process.exit(0)
}
