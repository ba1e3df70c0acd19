/** What only PostgreSQL does: races, deadlocks, and connections that go. Needs more than PGlite's one session. */
import { afterEach, describe, expect, test } from 'bun:test'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { asc, eq } from 'drizzle-orm'
import type { Database, Reader, Tx } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { Problem } from '../../src/errors.ts'
import { asProblemOf } from '../../src/http/problems.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { canOverlap, locationOf, nameOf, opener, startPostgres } from '../support/databases.ts'
import { clientFor } from '../support/postgres-server.ts'
import { until } from '../support/processes.ts'
import { runs } from '../support/tier.ts'

const addName = (text: string) => (tx: Tx) => tx.insert(tx.tables.names).values({ text }).returning()
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error) => error,
  )

async function namesOf(reader: Reader): Promise<string[]> {
  const { names } = reader.tables
  return (await reader.select({ text: names.text }).from(names).orderBy(asc(names.text))).map(({ text }) => text)
}

/** Ends the server's side of every connection to the test's database, as its restart does. */
async function endConnections(db: Database): Promise<void> {
  const { admin } = await startPostgres()
  await admin`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = ${`tally in ${nameOf(locationOf(db))}`}`
}

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

describe.skipIf(!canOverlap('postgres'))('PostgreSQL', () => {
  const openNew = opener('postgres')

  /** A database whose connections can be told from those of other tests. */
  async function open(settings: Record<string, string> = {}): Promise<Database> {
    const location = locationOf(await openNew())
    const url = new URL(location.databaseUrl!)
    url.searchParams.set('application_name', `tally in ${nameOf(location)}`)
    for (const [name, value] of Object.entries(settings)) url.searchParams.set(name, value)
    return openNew({ at: { dataDir: '', databaseUrl: url.href } })
  }

  test('writes nothing in a transaction that waited for a migration after which this version cannot', async () => {
    const db = await openNew()
    const set = db.setWriter<string, string>(async (tx, texts) => {
      await tx.insertAll(
        tx.tables.names,
        texts.map((text) => ({ text })),
      )
      return texts.map((value) => ({ value }))
    })
    // Connections that have sent a transaction before.
    await Promise.all([db.write(addName('body')), set(['set'])])
    const migration = clientFor(locationOf(db).databaseUrl!)
    cleanUps.push(() => migration.end())
    await migration.unsafe('BEGIN; LOCK TABLE revision IN ACCESS EXCLUSIVE MODE')
    const refused = [failureOf(db.write(addName('later body'))), set(['later set'])] as const
    await until(async () => {
      const waiting = await migration`SELECT FROM pg_locks WHERE relation = 'revision'::regclass AND NOT granted`
      return waiting.length === 2
    })
    await migration.unsafe('UPDATE revision SET oldest_schema = 1000000; COMMIT')
    expect(await refused[0]).toMatchObject({ code: 'database_upgraded' })
    expect(await refused[1]).toEqual([{ error: expect.objectContaining({ code: 'database_upgraded' }) }])
    expect(await namesOf(db.read)).toEqual(['body', 'set'])
  })

  test('runs a body once more that refers to a row committed after it began', async () => {
    const db = await openNew()
    const begun = Promise.withResolvers<void>()
    const committed = Promise.withResolvers<number>()
    let runs = 0
    // As a report does whose model another one has just made known to this process.
    const refers = db.write(async (tx) => {
      runs += 1
      await tx.select().from(tx.tables.names)
      begun.resolve()
      const canonicalId = await committed.promise
      return tx.insert(tx.tables.names).values({ text: 'GPT-5', canonicalId }).returning()
    })
    await begun.promise
    const [name] = await db.write(addName('gpt-5'))
    committed.resolve(name!.id)
    expect(await refers).toMatchObject([{ text: 'GPT-5', canonicalId: name!.id }])
    expect(runs).toBe(2)
  })

  test('runs a body again that was the victim of a deadlock', async () => {
    const db = await open({ deadlock_timeout: '20' })
    await db.write(async (tx) => {
      await addName('one')(tx)
      await addName('two')(tx)
    })
    let runs = 0
    let both = () => {}
    const bothHoldOne = new Promise<void>((resolve) => {
      both = resolve
    })
    let holders = 0
    const change = (first: string, second: string) =>
      db.write(async (tx) => {
        runs += 1
        const { names } = tx.tables
        await tx.update(names).set({ canonicalId: 1 }).where(eq(names.text, first))
        holders += 1
        if (holders === 2) both()
        await bothHoldOne
        await tx.update(names).set({ canonicalId: 2 }).where(eq(names.text, second))
      })
    await Promise.all([change('one', 'two'), change('two', 'one')])
    expect(runs).toBe(3)
  })

  test('runs only the effects of the run that was committed', async () => {
    const db = await open()
    const effects: number[] = []
    let runs = 0
    const bodies = Array.from({ length: 8 }, () =>
      db.write(async (tx) => {
        runs += 1
        const run = runs
        tx.afterCommit(() => effects.push(run))
        const { organization } = tx.tables
        const [row] = await tx.select().from(organization)
        await tx.update(organization).set({ name: `${row!.name}.` })
      }),
    )
    await Promise.all(bodies)
    expect(runs).toBeGreaterThan(8)
    expect(effects).toHaveLength(8)
    expect(new Set(effects).size).toBe(8)
  })

  test('gives a body one state of the database, whatever others commit meanwhile', async () => {
    const db = await open()
    const other = await openNew({ sharing: db })
    const seen = await db.write(async (tx) => {
      const before = await namesOf(tx)
      await other.write(addName('meanwhile'))
      return [before, await namesOf(tx)]
    })
    expect(seen).toEqual([[], []])
    expect(await namesOf(db.read)).toEqual(['meanwhile'])
  })

  test('refuses a body that continues after a failed query, and writes nothing of it', async () => {
    const db = await open()
    await db.write(addName('taken'))
    const body = db.write(async (tx) => {
      await addName('new')(tx)
      await addName('taken')(tx).catch(() => undefined)
    })
    expect(String(await failureOf(body))).toContain('the transaction function continued')
    expect(await namesOf(db.read)).toEqual(['taken'])
  })

  test('answers many changes of one row at the same time, and loses none', async () => {
    // They wait for each other, on a busy machine for longer than a person would.
    const db = await openNew({ busyDeadlineMs: 60_000 })
    await db.write((tx) => tx.update(tx.tables.organization).set({ name: '0' }))
    const changes = runs(1_000)
    const bodies = Array.from({ length: changes }, () =>
      db.write(async (tx) => {
        const { organization } = tx.tables
        const [row] = await tx.select({ name: organization.name }).from(organization)
        await tx.update(organization).set({ name: `${Number(row!.name) + 1}` })
      }),
    )
    await Promise.all(bodies)
    const [row] = await db.read.select().from(db.read.tables.organization)
    expect(row!.name).toBe(`${changes}`)
  }, 180_000)

  test('writes other items while a set waits for something', async () => {
    const db = await open()
    const begun = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const write = db.setWriter<string, undefined>(async (tx, items) => {
      if (items.includes('waits')) {
        begun.resolve()
        await over.promise
      }
      await tx.insertAll(
        tx.tables.names,
        items.map((text) => ({ text })),
      )
      return items.map(() => ({ value: undefined }))
    })
    const waiting = write(['waits'])
    await begun.promise
    await write(['other'])
    expect(await namesOf(db.read)).toEqual(['other'])
    over.resolve()
    await waiting
    expect(await namesOf(db.read)).toEqual(['other', 'waits'])
  })

  test('refuses a body that loses its connection, writes nothing of it, and accepts the next one', async () => {
    const db = await open()
    const body = db.write(async (tx) => {
      await addName('lost')(tx)
      await endConnections(db)
      await addName('never')(tx)
    })
    expect(await failureOf(body)).toMatchObject({ code: 'database_unreachable', status: 503 })
    expect(await db.write(addName('next'))).toHaveLength(1)
    expect(await namesOf(db.read)).toEqual(['next'])
    expect(await namesOf(db.slow)).toEqual(['next'])
  })

  test('survives connections that go all the time, and has exactly what it acknowledged', async () => {
    const db = await open()
    const acknowledged: string[] = []
    const unexpected: unknown[] = []
    let unknown = 0
    let over = false
    async function work(worker: number): Promise<void> {
      for (let number = 0; !over; number += 1) {
        const text = `${worker} ${number}`
        try {
          await db.write(addName(text))
          acknowledged.push(text)
          await db.read.revision()
          await db.slow.revision()
        } catch (error) {
          if (String(error).includes('may or may not have been written')) unknown += 1
          else if (error instanceof Problem && error.code === 'database_unreachable') continue
          else unexpected.push(error)
        }
      }
    }
    const workers = Array.from({ length: 12 }, (_, worker) => work(worker))
    // A busy machine takes longer to get some writes through.
    for (let round = 0; round < 15 || acknowledged.length <= 50; round += 1) {
      await Bun.sleep(60)
      await endConnections(db)
    }
    over = true
    await Promise.all(workers)
    expect(unexpected).toEqual([])
    // A read on a connection that has just gone fails; the next one has another.
    await failureOf(namesOf(db.read))
    await db.write(addName('last'))
    const stored = new Set(await namesOf(db.read))
    expect(acknowledged.filter((text) => !stored.has(text))).toEqual([])
    expect(stored.size).toBeLessThanOrEqual(acknowledged.length + unknown + 1)
    expect(acknowledged.length).toBeGreaterThan(50)
  })

  test('does not claim that nothing was written if the connection is lost during COMMIT', async () => {
    const db = await open()
    const proxy = await startProxy(locationOf(db).databaseUrl!)
    const throughProxy = await openDatabase({ dataDir: '', databaseUrl: proxy.url, clock: systemClock })
    cleanUps.push(() => throughProxy.close())
    proxy.cutAt = 'COMMIT'
    const failure = await failureOf(throughProxy.write(addName('written')))
    expect(failure).toMatchObject({ code: 'database_unreachable', status: 503 })
    expect(asProblemOf(failure).message).toContain('may or may not have been written')
    // The server commits after its client has lost the connection.
    expect(await until(async () => (await namesOf(db.read)).includes('written'))).toBe(true)
    proxy.cutAt = undefined
    await throughProxy.write(addName('next'))
    expect(await namesOf(throughProxy.read)).toEqual(['next', 'written'])
  })

  test('reports that the server does not respond while it is down, and works when it is back', async () => {
    const db = await open()
    const proxy = await startProxy(locationOf(db).databaseUrl!)
    const throughProxy = await openDatabase({ dataDir: '', databaseUrl: proxy.url, clock: systemClock })
    cleanUps.push(() => throughProxy.close())
    await throughProxy.write(addName('before'))
    await namesOf(throughProxy.read)
    await proxy.stop()
    const unreachable = { code: 'database_unreachable', status: 503, more: { headers: { 'retry-after': '2' } } }
    const waiting = Array.from({ length: 30 }, (_, number) => failureOf(throughProxy.write(addName(`${number}`))))
    for (const failure of await Promise.all(waiting)) expect(failure).toMatchObject(unreachable)
    expect(await failureOf(namesOf(throughProxy.read))).toMatchObject(unreachable)
    expect(await failureOf(Promise.resolve(throughProxy.read.revision()))).toMatchObject(unreachable)
    await proxy.start()
    await throughProxy.write(addName('after'))
    expect(await namesOf(throughProxy.read)).toEqual(['after', 'before'])
  })
})

interface Proxy {
  url: string
  /** Drops a connection after passing on what contains this text. */
  cutAt: string | undefined
  stop(): Promise<void>
  start(): Promise<void>
}

/** Stands between Tally and the server, so that a test can cut a connection at a certain message. */
async function startProxy(databaseUrl: string): Promise<Proxy> {
  const target = new URL(databaseUrl)
  const folder = target.searchParams.get('host')
  const targetPort = Number(target.port || 5432)
  const open = new Set<Socket>()
  let server: Server | undefined

  const proxy: Proxy = {
    url: '',
    cutAt: undefined,
    async stop() {
      const stopped = new Promise((resolve) => server!.close(resolve))
      for (const socket of open) socket.destroy()
      await stopped
    },
    async start() {
      server = createServer((near) => {
        const far = folder
          ? createConnection(`${folder}/.s.PGSQL.${targetPort}`)
          : createConnection(targetPort, target.hostname)
        for (const socket of [near, far]) {
          open.add(socket)
          socket.on('error', () => undefined)
          socket.on('close', () => {
            open.delete(socket)
            near.destroy()
            far.end()
          })
        }
        near.on('data', (bytes) => {
          far.write(bytes)
          if (proxy.cutAt && bytes.includes(proxy.cutAt)) near.destroy()
        })
        far.on('data', (bytes) => near.write(bytes))
      })
      const port = proxy.url ? Number(new URL(proxy.url).port) : 0
      await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve))
      const url = new URL(target)
      url.searchParams.delete('host')
      url.hostname = '127.0.0.1'
      url.port = `${(server.address() as { port: number }).port}`
      proxy.url = url.href
    },
  }
  await proxy.start()
  cleanUps.push(() => proxy.stop())
  return proxy
}
