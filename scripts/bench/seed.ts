/**
 * Creates a database with two years of a mid-sized agency's entries, to test Tally with a lot of data. The same seed
 * gives the same rows on any day and machine, except for the public ids of prices; the schema is that of a new
 * database.
 *
 *   scripts/bench/seed                          ten million entries in dist/seeded
 *   scripts/bench/seed --entries 100000 --data FOLDER
 *   scripts/bench/seed --seed 2                 other data
 *   scripts/bench/seed --replace                replaces the existing database
 *
 * `tally serve --data dist/seeded` serves it, and `tally tokens create --data dist/seeded --user ada.abel@example.com`
 * creates a token for its admin.
 */
import { Database as Connection, type SQLQueryBindings, type Statement } from 'bun:sqlite'
import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Progress } from '../../src/cli/terminal/progress.ts'
import type { Tx } from '../../src/database/database.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { detailsText } from '../../src/features/entries/rows.ts'
import { normalizeModelName, type PriceTable, value } from '../../src/features/prices/service.ts'
import { createServices } from '../../src/services.ts'
import { DAYS, type PastEntry, past } from './past.ts'
import { type Manager, type Population, populate } from './population.ts'
import { Random } from './random.ts'

const ROOT = join(import.meta.dir, '../..')

/** The first day without entries. Fixed, so that the rows do not depend on the current day. */
const UNTIL = Date.parse('2026-11-20T00:00:00Z')
const FROM = UNTIL - DAYS * 86_400_000

/**
 * Session keys are in random order. Their whole index, some 40 bytes per entry, has to be in memory, or each would cost
 * a page read.
 */
const CACHE_KIB = 1_500_000
const CACHE_BYTES_PER_ENTRY = 60

/** Below SQLite's limit of 32,766 parameters per statement. */
const ROWS_PER_INSERT = 1_000

/** In addition to the main thread, for sorting indexes. */
const SORT_THREADS = 1

/** While indexes are sorted, for as much of them as this and files for the rest: an index grows with the entries. */
const SORT_CACHE_KIB = 500_000

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '10000000' },
    data: { type: 'string', default: join(ROOT, 'dist/seeded') },
    seed: { type: 'string', default: '1' },
    replace: { type: 'boolean', default: false },
  },
})
const total = Number(options.entries)
if (!Number.isInteger(total) || total < 0 || !Number.isInteger(Number(options.seed)))
  throw new Error('--entries and --seed must be whole numbers.')

const whole = (count: number) => count.toLocaleString('en')

/**
 * People, projects, tickets and label sets, written with the application's own code. Keys are those of the population.
 */
async function insertPopulation(tx: Tx, random: Random, { everyone, clients, projects, labelSets }: Population) {
  const t = tx.tables
  const id = <Prefix extends string>(prefix: Prefix) => `${prefix}_${random.uuidOf(FROM).toString('hex')}` as const
  const createdAt = FROM
  await tx.update(t.organization).set({ name: 'Seeded', timeZone: 'Europe/Berlin', currency: 'EUR', setUpAt: FROM })
  await tx
    .insert(t.users)
    .values(
      everyone.map(({ id: key, name, email, role }) => ({ id: key, uid: id('usr'), name, email, role, createdAt })),
    )
  await tx.insert(t.clients).values(
    clients.map(({ id: key, name }) => ({
      id: key,
      uid: id('cli'),
      name,
      nameFolded: name.toLowerCase(),
      createdAt,
    })),
  )
  for (const { id: projectId, key, name, clientId, tickets } of projects) {
    await tx.insert(t.projects).values({ id: projectId, uid: id('prj'), key, name, clientId, createdAt })
    await tx.insert(t.projectNames).values([
      { folded: key.toLowerCase(), projectId, text: key, kind: 'key' },
      { folded: name.toLowerCase(), projectId, text: name, kind: 'name' },
    ])
    await tx.insert(t.projectLeads).values({ projectId, userId: 1 + ((projectId * 13) % everyone.length) })
    for (let from = 0; from < tickets.length; from += ROWS_PER_INSERT) {
      const some = tickets.slice(from, from + ROWS_PER_INSERT)
      await tx.insert(t.tickets).values(
        some.map(({ id: ticketId, key: ticketKey }) => {
          const keyFolded = ticketKey.toLowerCase()
          return { id: ticketId, uid: id('tkt'), key: ticketKey, keyFolded, projectId, createdAt }
        }),
      )
    }
  }
  for (let from = 0; from < labelSets.length; from += ROWS_PER_INSERT) {
    const some = labelSets.slice(from, from + ROWS_PER_INSERT).map((labels, at) => ({ ...labels, id: from + at + 1 }))
    // By name, the order in which every set of labels is stored.
    await tx
      .insert(t.labelSets)
      .values(some.map(({ id: key, branch, repository }) => ({ id: key, labels: { branch, repository } })))
    await tx.insert(t.labelPairs).values(
      some.flatMap(({ id: labelSetId, branch, repository }) => [
        { name: 'branch', value: branch, labelSetId },
        { name: 'repository', value: repository, labelSetId },
      ]),
    )
  }
}

/** Indexes that no constraint needs are created afterwards: sorting once costs far less than keeping them sorted. */
function dropIndexes(connection: Connection): string[] {
  const indexes = connection
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('entries', 'sessions', 'entry_history') AND sql IS NOT NULL",
    )
    .all()
  for (const { name } of indexes) connection.run(`DROP INDEX ${name}`)
  return indexes.map(({ sql }) => sql)
}

type Row = Record<string, SQLQueryBindings>

/** An INSERT of these columns, whose values are bound by position. */
function insertInto(connection: Connection, table: string, columns: string[]): Statement {
  const places = columns.map(() => '?').join(', ')
  return connection.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`)
}

class Inserter {
  readonly #names = new Map<string, { id: number; canonicalId: number }>()
  readonly #insertName: Statement
  readonly #insertSession: Statement
  readonly #insertHistory: Statement
  #insertEntry: Statement | undefined
  #lastSession = 0
  #lastEntry = 0
  readonly counts = { entries: 0, sessions: 0, unattributed: 0, unpriced: 0, approved: 0, rejected: 0, parts: 0 }

  constructor(
    readonly connection: Connection,
    readonly prices: PriceTable,
  ) {
    this.#insertName = insertInto(connection, 'names', ['id', 'text', 'canonical_id'])
    this.#insertSession = insertInto(connection, 'sessions', [
      'id',
      'session_key',
      'harness_id',
      'manager_id',
      'source',
    ])
    this.#insertHistory = insertInto(connection, 'entry_history', ['entry_id', 'at', 'action', 'user_id', 'details'])
  }

  add(entry: PastEntry, approver: Manager): void {
    const row = this.#rowOf(entry)
    this.#insertEntry ??= insertInto(this.connection, 'entries', Object.keys(row))
    this.#insertEntry.run(...Object.values(row))
    entry.id = this.#lastEntry
    this.#count(entry, row)
    if (entry.status === 'submitted') return
    const details = entry.status === 'rejected' ? '{"reason":"Reported twice"}' : '{}'
    this.#insertHistory.run(entry.id, entry.createdAt + 86_400_000, entry.status, approver.id, details)
  }

  #count(entry: PastEntry, { list_value, reported_cost }: Row): void {
    const { counts } = this
    counts.entries += 1
    if (!entry.project) counts.unattributed += 1
    if (list_value === null && reported_cost === null) counts.unpriced += 1
    if (entry.status !== 'submitted') counts[entry.status] += 1
    if (entry.part > 1) counts.parts += 1
  }

  /** Always the same columns in the same order. Other columns are NULL in every entry. */
  #rowOf(entry: PastEntry): Row {
    const { manager, counts, details, session, project, ticket, model, provider, startedAt, endedAt, requests } = entry
    const valuation = value(this.prices, { model, provider, startedAt, endedAt, counts, details, requests })
    const listValue = valuation?.listValueNanos ?? null
    const isCostReported = entry.reportedShare !== null && listValue !== null
    this.#lastEntry += 1
    return {
      id: this.#lastEntry,
      uid: entry.uid,
      manager_id: manager.id,
      source: 'report',
      status: entry.status,
      harness_id: this.#name(entry.harness).id,
      agent_id: this.#name(entry.agent).id,
      model_id: this.#name(model).id,
      provider_id: provider && this.#name(provider).id,
      started_at: startedAt,
      ended_at: endedAt,
      input: counts.input,
      output: counts.output,
      cache_read: counts.cacheRead,
      cache_write: counts.cacheWrite,
      cache_write_1h: counts.cacheWrite1h,
      usage_details: detailsText(details),
      requests,
      reported_cost: isCostReported ? Math.round(Number(listValue) * entry.reportedShare!) : null,
      list_value: listValue,
      price_id: valuation?.price.id ?? null,
      price_step: valuation?.step ?? null,
      price_note: valuation?.note ?? null,
      project_id: project?.id ?? null,
      ticket_id: ticket?.id ?? null,
      placed_by: project ? 'named' : null,
      summary: entry.summary,
      label_set_id: entry.labelSetId,
      session_id: session && this.#session(session),
      chain_model_id: session && this.#name(model).canonicalId,
      part: session && entry.part,
      continues_id: entry.continues?.id ?? null,
      fingerprint: entry.fingerprint,
      possible_duplicate_id: entry.duplicateOf?.id ?? null,
      created_at: entry.createdAt,
    }
  }

  #session(session: NonNullable<PastEntry['session']>): number {
    if (session.id !== undefined) return session.id
    session.id = ++this.#lastSession
    this.counts.sessions += 1
    this.#insertSession.run(
      session.id,
      session.key,
      this.#name(session.harness).canonicalId,
      session.manager.id,
      'report',
    )
    return session.id
  }

  #name(text: string): { id: number; canonicalId: number } {
    const known = this.#names.get(text)
    if (known) return known
    const canonical = normalizeModelName(text)
    const canonicalId = canonical === text ? undefined : this.#name(canonical).id
    const id = this.#names.size + 1
    const key = { id, canonicalId: canonicalId ?? id }
    this.#names.set(text, key)
    this.#insertName.run(id, text, canonicalId ?? null)
    return key
  }
}

/** The schema, independent of the order in which it was created. */
function schemaOf(connection: Connection): string {
  const rows = connection
    .query<{ text: string }, []>(
      "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') AS text FROM sqlite_schema",
    )
    .all()
  return rows
    .map(({ text }) => text)
    .sort()
    .join('\n')
}

function insertPast(connection: Connection, population: Population, random: Random, prices: PriceTable) {
  const inserter = new Inserter(connection, prices)
  const progress = new Progress('entries')
  const approver = population.everyone[1]!
  // One transaction: each commit would write every page of the index of session keys, because all of them change.
  connection.run('BEGIN')
  for (const day of past(random, population, total, UNTIL)) {
    for (const entry of day) inserter.add(entry, approver)
    progress.show(inserter.counts.entries, total)
  }
  connection.run('COMMIT')
  progress.end()
  return inserter.counts
}

function makeIndexes(connection: Connection, indexes: string[]): void {
  const progress = new Progress('indexes')
  connection.run(`PRAGMA threads = ${SORT_THREADS}`)
  connection.run(`PRAGMA cache_size = -${SORT_CACHE_KIB}`)
  for (const [done, sql] of indexes.entries()) {
    progress.show(done, indexes.length)
    connection.run(sql)
  }
  progress.end()
}

async function seed(folder: string) {
  const random = new Random(Number(options.seed))
  const population = populate(random)
  const clock = { now: () => FROM }
  const db = await openDatabase({ dataDir: folder, clock })
  const services = createServices({ db, clock })
  await services.prices.loadDefaultPrices()
  await db.write((tx) => insertPopulation(tx, random, population))
  const prices = await services.prices.table(db.read)
  await db.close()

  // drizzle never finalizes its statements, and a file can leave WAL mode only if no process has it open.
  const file = join(folder, 'seeded.db')
  await copyFile(join(folder, DATABASE_FILE), file)
  const connection = new Connection(file)
  const schema = schemaOf(connection)
  // Nothing has to survive a crash here: an incomplete file is deleted.
  for (const pragma of ['journal_mode = MEMORY', 'synchronous = OFF', 'locking_mode = EXCLUSIVE'])
    connection.run(`PRAGMA ${pragma}`)
  connection.run(`PRAGMA cache_size = -${Math.max(CACHE_KIB, Math.ceil((total * CACHE_BYTES_PER_ENTRY) / 1024))}`)
  // Next to the database: /tmp is often in memory.
  connection.run('PRAGMA temp_store = FILE')
  connection.run(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`)
  connection.run('PRAGMA foreign_keys = ON')
  const indexes = dropIndexes(connection)
  const counts = insertPast(connection, population, random, prices)
  makeIndexes(connection, indexes)
  if (schemaOf(connection) !== schema) throw new Error('The schema has changed while seeding.')
  connection.run('PRAGMA locking_mode = NORMAL')
  connection.run('PRAGMA journal_mode = WAL')
  connection.close()
  return counts
}

const path = join(options.data, DATABASE_FILE)
if ((await stat(path).catch(() => undefined)) && !options.replace)
  throw new Error(`${path} already exists. Choose another folder with --data, or use --replace.`)
// Moved to its place when it is complete.
const unfinished = join(options.data, 'unfinished')
await rm(unfinished, { recursive: true, force: true })
await mkdir(unfinished, { recursive: true })
const startedAt = performance.now()
try {
  const counts = await seed(unfinished)
  for (const suffix of ['-wal', '-shm']) await rm(path + suffix, { force: true })
  await rename(join(unfinished, 'seeded.db'), path)
  const seconds = (performance.now() - startedAt) / 1000
  const { size } = await stat(path)
  for (const [name, count] of Object.entries(counts)) console.log(`${name.padEnd(14)}${whole(count).padStart(14)}`)
  console.log(
    `${'size'.padEnd(14)}${`${whole(Math.round(size / 1e6))} MB`.padStart(14)}   ${Math.round(size / Math.max(1, total))} bytes per entry`,
  )
  console.log(`${'time'.padEnd(14)}${`${seconds.toFixed(0)} s`.padStart(14)}`)
  console.log(path)
} finally {
  await rm(unfinished, { recursive: true, force: true })
}
