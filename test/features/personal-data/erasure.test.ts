import { Database as Connection } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getTableColumns, sql, type Table } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { backUp } from '../../../src/database/backup/backup.ts'
import { compactFile } from '../../../src/database/compact.ts'
import type { Database } from '../../../src/database/database.ts'
import { TEXT_COLUMNS } from '../../../src/features/personal-data/erasure/columns.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createServices } from '../../../src/services.ts'
import { billRow } from '../../support/bills.ts'
import { forEachEngine, newLocation } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const EMAIL = 'ada.l@example.com'
const FORMER = 'ada.king@example.com'
const TELEMETRY = 'ada@users.example.com'
const NAME = 'Ada Lovelace'
const FORMER_NAME = 'Ada King'
const USER_NAME = 'alovelace'
const WORDS = [EMAIL, FORMER, TELEMETRY, NAME, FORMER_NAME, USER_NAME]

/** Ada, who is mentioned wherever texts are, and Grace, who mentions her. */
async function seed(db: Database) {
  const services = createServices({ db, clock: systemClock })
  const { people, entries, placement, projects, organization } = services
  await people.addUser({ email: 'keeper@example.com', name: 'Keeper', role: 'admin' }, TALLY)
  await people.addUser({ email: FORMER, name: FORMER_NAME, role: 'admin' }, TALLY)
  const { user } = { user: await people.changeUser(FORMER, { email: EMAIL, name: NAME }, TALLY) }
  await people.setFurtherEmails(EMAIL, [TELEMETRY], TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: EMAIL, name: `${NAME}'s laptop` }, TALLY)
  const ada = (await people.authenticate(`Bearer ${secret}`)) as Awaited<ReturnType<typeof addReporter>>
  const byAda = { userId: user.id, tokenId: null, origin: '192.0.2.44' }
  const grace = await addReporter(people, { name: 'Grace' })
  await projects.addProject(OPERATOR, { key: 'ACME', leads: [EMAIL] })
  await placement.addRule(byAda, {
    name: `By ${NAME}`,
    conditions: [{ field: 'labels.path', matches: `/home/${USER_NAME}/*` }],
    project: 'ACME',
    ticket: null,
  })
  const report = (reporter: typeof ada, more: Record<string, unknown>) =>
    entries.reporting.reportEntry(reportBody(more), reporter)
  await report(ada, { session_id: 'one', summary: `${NAME} fixes it`, labels: { author: EMAIL, team: 'a' } })
  await report(ada, { session_id: `${EMAIL}-2`, labels: { author: EMAIL.toUpperCase(), team: 'a' } })
  await report(ada, { agent_name: NAME, labels: { path: `/home/${USER_NAME}/web` } })
  const { entry } = await report(grace, { summary: `Asked ${EMAIL}`, agent_name: NAME.toUpperCase(), project: 'ACME' })
  await entries.places.changeEntry(entry.id, { summary: `Asked ${NAME} twice` }, OPERATOR)
  await entries.reporting.reportEntry(reportBody({ started_at: '2026-11-20T09:00:00Z' }), ada, `key of ${NAME}`)
  await organization.changeSettings({ name: 'Acme' }, byAda)
  await db.write(async (tx) => {
    await tx
      .insert(tx.tables.bills)
      .values(billRow({ document: JSON.stringify({ lines: [NAME] }), number: '2026-0001' }))
  })
  return { services, user, ada, secret }
}

/** Every text of the database, with its column. */
async function textsOf(db: Database, { kept }: { kept: boolean }): Promise<string[]> {
  const texts: string[] = []
  for (const [name, { kept: keptColumns = {} }] of Object.entries(TEXT_COLUMNS)) {
    const table = db.read.tables[name as keyof typeof TEXT_COLUMNS] as PgTable
    for (const [column, of] of Object.entries(getTableColumns(table as Table))) {
      if (of.getSQLType() !== 'text' || column in keptColumns !== kept) continue
      const rows = await db.read.select({ text: sql<string | null>`${of}` }).from(table)
      texts.push(...rows.map(({ text }) => `${name}.${column}: ${text}`))
    }
  }
  return texts
}

const mentions = (texts: readonly string[]) =>
  texts.filter((text) => WORDS.some((word) => text.toLowerCase().includes(word.toLowerCase())))

const figuresOf = async (services: ReturnType<typeof createServices>) => {
  const { data } = await services.entries.listing.listEntries(EVERYTHING, { filter: {}, limit: 100, after: undefined })
  return data.map(({ id, tokens, cost, status, project }) => ({ id, tokens, cost, status, project }))
}

forEachEngine('erasing a person', (open, engine) => {
  test('replaces every mention but those that must be kept, and changes no figure', async () => {
    const db = await open()
    const { services } = await seed(db)
    const { erasure } = services.personalData
    const before = await figuresOf(services)
    const planned = await erasure.planErasure(EMAIL, [USER_NAME])
    expect(planned.words).toMatchObject({
      emails: expect.arrayContaining([EMAIL, FORMER, TELEMETRY]),
      names: [NAME, FORMER_NAME, USER_NAME],
    })
    expect(planned.kept).toEqual([{ reason: 'bills', why: expect.any(String), rows: 1 }])
    expect(mentions(await textsOf(db, { kept: false })).length).toBeGreaterThan(10)

    await erasure.erase(EMAIL, [USER_NAME], TALLY)
    await erasure.finishAll()

    expect(mentions(await textsOf(db, { kept: false }))).toEqual([])
    expect(mentions(await textsOf(db, { kept: true }))).toHaveLength(1)
    expect((await textsOf(db, { kept: false })).filter((text) => text.includes('192.0.2.44'))).toEqual([])
    expect(await figuresOf(services)).toEqual(before)
    const verified = [...(await services.entries.verify()), ...(await services.reports.verify(() => {}))]
    expect(verified).toEqual([])
    const done = await erasure.getErasure(planned.user.uid)
    expect(done.record).toMatchObject({ words: null, endedAt: expect.any(Number) })
    // What the plan counted is what changed, besides rows of the account itself.
    for (const table of ['entries', 'label_sets', 'names', 'placement_rule_versions'])
      expect(done.record.counts[table]).toBe(planned.replaced[table]!)
  })

  test('lets nobody in, and keeps two texts that become the same apart', async () => {
    const db = await open()
    const { services, user, secret } = await seed(db)
    const { people, personalData } = services
    await personalData.erasure.erase(EMAIL, [], TALLY)
    await personalData.erasure.finishAll()
    const erased = await people.getUser(user.uid)
    expect(erased).toMatchObject({ hasPassword: false, disabledAt: expect.any(Number), erasedAt: expect.any(Number) })
    expect(erased.email).toBe(`${user.uid.slice(4)}@erased.invalid`)
    expect(async () => people.authenticate(`Bearer ${secret}`)).toThrow()
    const refusals = [
      () => people.enableUser(user.uid, TALLY),
      () => people.changeUser(user.uid, { name: NAME }, TALLY),
      () => people.setPassword(user.uid, 'correct horse battery', TALLY),
      () => people.setFurtherEmails(user.uid, [EMAIL], TALLY),
      () => people.createPasswordLink(user.uid, 'invitation', 'http://tally.lan', TALLY),
      () => people.createToken({ kind: 'svc', user: user.uid, name: 'new' }, TALLY),
      () => services.shareLinks.createShareLink(user.uid, { report: {} } as never, TALLY),
      () => personalData.erasure.erase(user.uid, [], TALLY),
    ]
    for (const refused of refusals) expect(refused()).rejects.toMatchObject({ code: 'person_erased' })
    const { data } = await services.entries.listing.listEntries(EVERYTHING, {
      filter: {},
      limit: 100,
      after: undefined,
    })
    const authors = data.flatMap(({ labels }) => (labels?.author === undefined ? [] : [labels.author]))
    expect(new Set(authors).size).toBe(2)
    for (const author of authors) expect(author).toContain('@erased.invalid')
    expect(await services.projects.showProject('ACME')).toMatchObject({ leads: [] })
  })

  test('continues after it was interrupted, and the last admin stays', async () => {
    const db = await open()
    const { services } = await seed(db)
    await services.personalData.erasure.erase(EMAIL, [USER_NAME], TALLY)
    // Another process, with nothing in memory.
    const other = createServices({ db: await open({ sharing: db }), clock: systemClock })
    expect(await other.personalData.erasure.countUnfinished()).toBe(1)
    await Promise.all([other.personalData.erasure.finishAll(), services.personalData.erasure.finishAll()])
    expect(mentions(await textsOf(db, { kept: false }))).toEqual([])
    await services.people.disableUser('grace@example.com', TALLY)
    expect(services.personalData.erasure.erase('keeper@example.com', [], TALLY)).rejects.toMatchObject({
      code: 'last_admin',
    })
  })

  test('shows what may mean the person, and replaces it only if it is asked to, also later', async () => {
    const db = await open()
    const { services, ada } = await seed(db)
    const { erasure } = services.personalData
    const report = (summary: string) => services.entries.reporting.reportEntry(reportBody({ summary }), ada)
    for (const text of ['for Lovelace, Ada', 'asks LOVELACE, Ada', 'A. Lovelace']) await report(text)
    const { near } = await erasure.planErasure(EMAIL)
    expect(near).toContainEqual({ spelling: 'Lovelace, Ada', kind: 'order', count: 2 })
    expect(near.map(({ spelling }) => spelling)).toContain('A. Lovelace')
    expect(near.map(({ spelling }) => spelling)).toContain(USER_NAME)
    expect(erasure.planErasure(EMAIL, ['GRACE@example.com'])).rejects.toThrow('/also/0: is the e-mail address')

    const { user } = await erasure.erase(EMAIL, [], TALLY)
    const summaries = async () => (await textsOf(db, { kept: false })).join('\n')
    expect(erasure.erase(user.uid, ['A. Lovelace'], TALLY)).rejects.toMatchObject({ code: 'person_erased' })
    await erasure.finishAll()
    expect(await summaries()).toContain('for Lovelace, Ada')

    const { replaced, words } = await erasure.planErasure(user.uid, ['Lovelace, Ada', 'A. Lovelace'])
    expect(words).toMatchObject({ emails: [], names: ['Lovelace, Ada', 'A. Lovelace'], accountNames: [] })
    expect(replaced).toMatchObject({ entries: 3 })
    await erasure.erase(user.uid, ['Lovelace, Ada', 'A. Lovelace'], TALLY)
    await erasure.finishAll()
    expect(await summaries()).not.toMatch(/Lovelace, Ada|A\. Lovelace/i)
    expect((await erasure.getErasure(user.uid)).record).toMatchObject({ words: null, endedAt: expect.any(Number) })
  })

  test('leaves a name that somebody else has as well, except where it is about the account', async () => {
    const db = await open()
    const { services, ada } = await seed(db)
    const { people, personalData } = services
    const namesake = await people.addUser({ email: 'other@example.com', name: 'ADA  Lovelace', role: 'member' }, TALLY)
    await people.createToken({ kind: 'svc', user: namesake.uid, name: `Laptop of ${NAME}` }, TALLY)
    await services.entries.reporting.reportEntry(reportBody({ summary: `${NAME}, ${EMAIL}` }), ada)
    const { words } = await personalData.erasure.planErasure(EMAIL)
    expect(words).toMatchObject({ names: [FORMER_NAME], accountNames: [NAME] })
    const { user } = await personalData.erasure.erase(EMAIL, [], TALLY)
    await personalData.erasure.finishAll()

    const { audit } = db.read.tables
    const rows = await db.read.select({ objectId: audit.objectId, after: audit.after }).from(audit)
    const named = (uid: string) => rows.filter(({ objectId }) => objectId === uid).map(({ after }) => after?.name)
    expect(named(namesake.uid)).toContain('ADA  Lovelace')
    expect(named(user.uid)).not.toContain(NAME)
    const texts = await textsOf(db, { kept: false })
    expect(texts.filter((text) => text.includes(EMAIL))).toEqual([])
    expect(texts).toContainEqual(expect.stringMatching(/^entries.summary: Ada Lovelace, .*@erased.invalid$/))
  })

  test('lets a session of another person go on under its hash', async () => {
    const db = await open()
    const { services } = await seed(db)
    const grace = (await services.people.createToken({ kind: 'svc', user: 'grace@example.com', name: 'b' }, TALLY))
      .secret
    const caller = (await services.people.authenticate(`Bearer ${grace}`)) as Awaited<ReturnType<typeof addReporter>>
    const body = (output: number) => reportBody({ session_id: `with ${NAME}`, tokens: { input: 10, output } })
    const { entry } = await services.entries.reporting.reportEntry(body(5), caller)
    await services.personalData.erasure.erase(EMAIL, [], TALLY)
    await services.personalData.erasure.finishAll()
    const later = await services.entries.reporting.reportEntry(body(50), caller)
    expect(later).toMatchObject({ outcome: 'updated', entry: { id: entry.id, tokens: { output: 50 } } })
    expect(later.entry.session_id).toStartWith('sha256:')
    const found = await services.entries.listing.listEntries(EVERYTHING, {
      filter: { session_id: [`with ${NAME}`] },
      limit: 9,
      after: undefined,
    })
    expect(found.data.map(({ id }) => id)).toEqual([entry.id])
  })

  test('rows of the audit log and of history cannot be changed otherwise', async () => {
    const db = await open()
    const { services } = await seed(db)
    const change = () =>
      db.write(async (tx) => {
        await tx.update(tx.tables.audit).set({ origin: 'elsewhere' })
      })
    expect(change()).rejects.toThrow()
    await services.personalData.erasure.erase(EMAIL, [], TALLY)
    const actions = () =>
      db.write(async (tx) => {
        await tx.update(tx.tables.audit).set({ action: 'other' })
      })
    expect(actions()).rejects.toThrow()
    await services.personalData.erasure.finishAll()
    expect(change()).rejects.toThrow()
    expect(engine).toBeString()
  })
})

describe('on SQLite', () => {
  const cleanUps: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const step of cleanUps) await step()
  })

  test('neither file, log nor a new backup contain the words after compacting', async () => {
    const location = await newLocation('sqlite', cleanUps)
    const { openDatabase } = await import('../../../src/database/open.ts')
    const db = await openDatabase({ ...location, clock: systemClock })
    const { services } = await seed(db)
    await db.write(async (tx) => {
      // The only text that is kept.
      await tx.delete(tx.tables.billDocuments)
    })
    await services.personalData.erasure.erase(EMAIL, [USER_NAME], TALLY)
    await services.personalData.erasure.finishAll()
    const file = join(location.dataDir, 'tally.db')
    compactFile(file)
    await services.organization.declareCompacted(Date.now())
    expect(await services.personalData.erasure.needsCompacting()).toBe(false)
    const backup = join(location.dataDir, 'backup.db')
    await backUp({ from: file, to: backup, madeAt: Date.now() })
    for (const path of [file, `${file}-wal`, backup]) {
      if (!existsSync(path)) continue
      const bytes = readFileSync(path).toString('latin1').toLowerCase()
      // The sent bill is kept.
      const found = WORDS.filter((word) => word !== NAME && bytes.includes(word.toLowerCase()))
      expect([path, found]).toEqual([path, []])
      expect(bytes.split(NAME.toLowerCase()).length - 1).toBeLessThanOrEqual(1)
    }
    const connection = new Connection(backup, { readonly: true })
    expect(connection.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    connection.close()
    await db.close()
  })
})
