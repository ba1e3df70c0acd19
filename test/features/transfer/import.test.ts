import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import type { Database } from '../../../src/database/database.ts'
import { KINDS } from '../../../src/features/transfer/kinds.ts'
import { createServices } from '../../../src/services.ts'
import { billRow } from '../../support/bills.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'
import { contentOf, exportOf, fileOf, importInto, linesOf } from '../../support/transfer.ts'

const clock = { now: () => Date.UTC(2026, 10, 20, 19, 30) }

async function filled(db: Database) {
  const services = createServices({ db, clock })
  await services.people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
  const { secret } = await services.people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
  const ada = (await services.people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  await services.projects.addClient(OPERATOR, { name: 'Acme' })
  await services.projects.addProject(OPERATOR, { key: 'WEB', client: 'Acme' })
  await services.prices.setPrice(
    { model: 'gpt-5-codex', input: 1, output: 2, effective_from: 'always', only: true, force: true },
    TALLY,
  )
  await services.entries.reporting.reportEntry(reportBody({ session_id: 'one', project: 'WEB' }), ada)
  await services.entries.reporting.reportEntry(reportBody({ labels: { branch: 'main' }, reported_cost: 0.5 }), ada)
  return { ...services, secret }
}

async function rowsIn({ read }: Database): Promise<number> {
  const counts = await Promise.all(
    KINDS.map(async ({ table }) => (await read.select().from(read.tables[table])).length),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

forEachEngine('an export', (open) => {
  test('waits until a bill that is being prepared was sent', async () => {
    const db = await open()
    await db.write(async (tx) => {
      await tx.insert(tx.tables.bills).values({ ...billRow({ number: '1' }), state: 'preparing' })
    })
    await expect(exportOf(db)).rejects.toThrow('A bill is being prepared')
  })

  test('is of one moment, whatever is written meanwhile', async () => {
    const db = await open()
    const { transfer, projects } = await filled(db)
    const pieces: Uint8Array[] = []
    await transfer.exportAll({
      version: '1.2.3',
      from: undefined,
      to: undefined,
      async write(piece) {
        if (pieces.length === 0) await projects.addClient(OPERATOR, { name: 'Later' })
        pieces.push(piece)
      },
      onProgress() {},
    })
    expect(Buffer.concat(pieces).toString()).not.toContain('Later')
    expect(await exportOf(db)).toContain('Later')
  })
})

forEachEngine('an import', (open) => {
  test('into a database in use is refused', async () => {
    const text = await exportOf((await filled(await open())) && (await open()))
    const db = await open()
    await filled(db)
    await expect(importInto(db, text)).rejects.toThrow('already in use (person: 1')
  })

  test('as a dry run reports the same and changes nothing', async () => {
    const source = await open()
    await filled(source)
    const text = await exportOf(source)
    const db = await open()
    const before = await rowsIn(db)
    const rehearsed = await importInto(db, text, { dryRun: true })
    expect(await rowsIn(db)).toBe(before)
    expect(await importInto(db, text)).toEqual(rehearsed)
    expect(rehearsed.counts).toMatchObject({ person: 1, client: 1, project: 1, session: 1, entry: 2 })
    expect(rehearsed.tokens).toMatchObject([{ kind: 'svc', name: 'test', created_by: 'ada@example.com' }])
  })

  test('replaces the prices that a server has loaded by itself, and its link to set it up', async () => {
    const source = await open()
    await filled(source)
    const text = await exportOf(source)
    const db = await open()
    const { prices, people } = createServices({ db, clock })
    await prices.loadDefaultPrices()
    await people.createSetUpLink('http://localhost')
    await importInto(db, text)
    const { tables } = db.read
    expect(await db.read.select().from(tables.prices)).toHaveLength(1)
    expect(await db.read.select().from(tables.oneTimeLinks)).toEqual([])
    const there = contentOf(await exportOf(db)).filter((line) => !line.includes('"origin":"tally","action":"prices'))
    expect(there).toEqual(contentOf(text))
  })

  test('revokes tokens, and a session goes on where it was', async () => {
    const source = await open()
    const { secret: old } = await filled(source)
    const db = await open()
    await importInto(db, await exportOf(source))
    const { people, entries } = createServices({ db, clock })
    const [token] = await db.read.select().from(db.read.tables.tokens)
    expect(token!.revokedAt).not.toBeNull()
    await expect((async () => people.authenticate(`Bearer ${old}`))()).rejects.toThrow()
    const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'new' }, TALLY)
    const caller = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    const more = reportBody({ session_id: 'one', project: 'WEB', tokens: { input: 30, output: 5 } })
    const { entry } = await entries.reporting.reportEntry({ ...more, ended_at: '2026-11-20T11:30:00Z' }, caller)
    expect(entry).toMatchObject({ tokens: { input: 30 }, part: 1 })
    expect(await entries.verify()).toEqual([])
    // New entries come after those that were imported.
    const fresh = await entries.reporting.reportEntry(reportBody({ started_at: '2026-11-20T10:30:00Z' }), caller)
    expect(fresh.outcome).toBe('created')
  })

  test('of a file that was damaged, truncated or changed writes nothing, and names the line', async () => {
    const source = await open()
    await filled(source)
    const text = await exportOf(source)
    const lines = linesOf(text).slice(0, -1)
    const changed = (type: string, change: Record<string, unknown>) =>
      fileOf(lines.map((line) => (line.type === type ? { ...line, ...change } : line)))
    const at = (type: string) => 1 + lines.findIndex((line) => line.type === type)
    const db = await open()
    const before = await rowsIn(db)
    for (const [file, message] of [
      ['', 'The file is empty'],
      ['{"hello":1}\n', 'not an export of Tally'],
      ['id,status\n', 'Line 1: is not valid JSON.'],
      [text.slice(0, text.length / 2), 'is not valid JSON.'],
      [text.slice(0, text.lastIndexOf('{"type":"end"')), 'The file is truncated'],
      [text.replace('"version":1', '"version":2'), 'The file has version 2 of the format'],
      [text.replace('"WEB"', '"WUB"'), 'changed or damaged after it was created'],
      [`${text}{}\n`, 'nothing may follow the line of type "end"'],
      [changed('person', { role: 'owner' }), `Line ${at('person')}: role must be one of`],
      [changed('person', { nickname: 'A' }), `Line ${at('person')}: nickname is not a known field`],
      [changed('client', { type: 'customer' }), `Line ${at('client')}: the type "customer" is unknown.`],
      [changed('entry', { input: -1 }), ': input must be at least 0.'],
      [changed('entry', { list_value: '9223372036854775.808' }), ': list_value: 9223372036854775.808 is too large.'],
      [changed('entry', { started_at: '2026-13-01T00:00:00.000Z' }), 'is not a time that exists'],
      [changed('entry', { ended_at: '2020-01-01T00:00:00.000Z' }), 'Lines '],
      [changed('entry', { agent_manager: `usr_${'0'.repeat(32)}` }), 'which is not in the file before it.'],
      [changed('entry', { possible_duplicate_of: `ent_${'0'.repeat(32)}` }), 'which is not in the file.'],
      [changed('token', { hint: 'a\0b' }), `Line ${at('token')}: contains U+0000`],
      [changed('token', { name: '\ud800' }), `Line ${at('token')}: contains U+0000 or half of a character`],
      [fileOf(lines.filter(({ type }) => type !== 'session')), 'must follow the line of its session'],
      [fileOf([lines[0]!, ...lines.slice(1).reverse()]), 'must come before those of the type'],
      [fileOf(lines.flatMap((line) => (line.type === 'project' ? [line, line] : [line]))), 'exists already'],
      [`${text.split('\n')[0]}\n${'['.repeat(200)}\n`, 'Line 2: has too many or too deeply nested values.'],
    ] as const) {
      const refusal = importInto(db, file).then(
        () => `imported: ${message}`,
        ({ name, message: text }) => `${name}: ${text}`,
      )
      expect(await refusal).toContain('Problem: ')
      expect(await refusal).toContain(message)
      expect(await rowsIn(db)).toBe(before)
    }
    await expect(importInto(db, Buffer.from(`${text.split('\n')[0]}\n"\xff"\n`, 'latin1'))).rejects.toThrow(
      'Line 2: is not valid UTF-8.',
    )
  })

  test('of a line that is too long is refused before it is read', async () => {
    const text = await exportOf(await open())
    const long = `${text.split('\n')[0]}\n{"type":"${'x'.repeat(67_200_000)}"}\n`
    await expect(importInto(await open(), long)).rejects.toThrow('Line 2: is longer than 64 MB.')
  })

  test('of the entries of a period is refused, because the rest is missing', async () => {
    const source = await open()
    await filled(source)
    const text = await exportOf(source, { from: Date.UTC(2026, 10, 20) })
    expect(linesOf(text).at(-1)).toMatchObject({ counts: { entry: 2, session: 1 } })
    expect(linesOf(await exportOf(source, { to: Date.UTC(2026, 10, 20) })).at(-1)).not.toHaveProperty('counts.entry')
    await expect(importInto(await open(), text)).rejects.toThrow('only the entries of a period')
  })
})
