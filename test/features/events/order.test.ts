/** Nobody who follows the log misses an event, whatever the order in which transactions commit. */
import { expect, test } from 'bun:test'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'

const clock = { now: () => Date.UTC(2026, 10, 20, 19, 30) }
const who = { viewer: EVERYTHING, isAdmin: true }
const wait = { signal: new AbortController().signal, renewMs: 1_000 }

const named = (name: string) => ({ type: 'backup.failed' as const, object: { id: name, name } })

forEachEngine('a reader', (open, engine) => {
  const servicesOf = (db: Database) => createServices({ db, clock }).events

  // SQLite has one writer.
  test.if(engine === 'postgres')('waits for transactions that drew an earlier id and commit later', async () => {
    const db = await open()
    const events = servicesOf(db)
    const read = async (after: number) => {
      const { views, next } = await events.read(who, { after, types: undefined, limit: 100 })
      return { names: views.map(({ object }) => object!.name), next }
    }
    const begin = await events.begin('now')
    const gate = Promise.withResolvers<void>()
    const drawn = Promise.withResolvers<void>()
    const slow = db.write(async (tx) => {
      await events.record(tx, [named('slow')])
      drawn.resolve()
      await gate.promise
    })
    await drawn.promise
    for (const name of ['a', 'b', 'c']) await db.write((tx) => events.record(tx, [named(name)]))
    const early = await read(begin)
    expect(early.names).toEqual([])
    gate.resolve()
    await slow
    expect((await read(early.next)).names).toEqual(['slow', 'a', 'b', 'c'])
  })

  test('gets each event of several writers once, in the order of the ids', async () => {
    const db = await open()
    const others = [db, await open({ sharing: db }), await open({ sharing: db })]
    const events = servicesOf(db)
    const count = 60
    const seen: { id: number; name: string }[] = []
    const reading = (async () => {
      let after = await events.begin(undefined)
      while (seen.length < others.length * count) {
        const options = { after, types: undefined, limit: 7 }
        const { views, next } = await events.readNext(async () => who, options, { ...wait, timeoutMs: 5_000 })
        for (const { id, object } of views) seen.push({ id, name: object!.id })
        after = next
      }
    })()
    await Promise.all(
      others.map(async (writer, number) => {
        const { record } = servicesOf(writer)
        for (let at = 0; at < count; at += 1) {
          await writer.write(async (tx) => {
            await record(tx, [named(`${number}-${at}`)])
            // Further statements, between which others commit.
            if (at % 3 === number) await tx.select({ id: tx.tables.users.id }).from(tx.tables.users)
          })
        }
      }),
    )
    await reading
    expect(new Set(seen.map(({ name }) => name)).size).toBe(others.length * count)
    expect(seen).toHaveLength(others.length * count)
    expect(seen).toEqual(seen.toSorted((one, other) => one.id - other.id))
  })

  test('sees what another process has recorded while it waits', async () => {
    const db = await open()
    const other = servicesOf(await open({ sharing: db }))
    const events = servicesOf(db)
    const after = await events.begin('now')
    const options = { after, types: undefined, limit: 10 }
    const waiting = events.readNext(async () => who, options, { ...wait, timeoutMs: 600_000 })
    await Bun.sleep(100)
    await db.write((tx) => other.record(tx, [named('elsewhere')]))
    expect((await waiting).views.map(({ object }) => object!.id)).toEqual(['elsewhere'])
  })

  test('of few events reads on over those that it does not see, window by window', async () => {
    const db = await open()
    const events = servicesOf(db)
    const many = Array.from({ length: 45_000 }, () => ({ type: 'entry.created' as const, entryId: 1 }))
    await db.write((tx) => events.record(tx, [...many, named('last')]))
    const first = await events.read(who, { after: 0, types: ['backup.failed'], limit: 10 })
    expect(first).toMatchObject({ views: [], hasMore: true })
    const all = await events.readFull(who, { after: 0, types: ['backup.failed'], limit: 10 })
    expect(all.views.map(({ object }) => object!.id)).toEqual(['last'])
  })
})
