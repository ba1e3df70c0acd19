import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { and, desc, eq, getTableColumns, max, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { backUp } from '../../../src/database/backup/backup.ts'
import { compactFile } from '../../../src/database/compact.ts'
import type { Database } from '../../../src/database/database.ts'
import { DATABASE_FILE, openDatabase } from '../../../src/database/open.ts'
import { TEXT_COLUMNS } from '../../../src/features/personal-data/erasure/columns.ts'
import { foldSpelling } from '../../../src/features/personal-data/erasure/folding.ts'
import type { TextTable } from '../../../src/features/personal-data/erasure/store.ts'
import { replacing } from '../../../src/features/personal-data/erasure/words.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { newId } from '../../../src/lib/id.ts'
import { hashOfSessionId } from '../../../src/lib/session-id.ts'
import { createServices, type Services } from '../../../src/services.ts'
import { forEachEngine, newLocation } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'
import { spellingOf } from '../../support/spellings.ts'
import { runs } from '../../support/tier.ts'
import { exportOf } from '../../support/transfer.ts'

const PSEUDONYM = { name: 'Erased person 1f2e3d', email: 'x@erased.invalid' }

const part = fc.stringMatching(/^[A-Za-zÀ-ÖØ-öø-žΑ-Ωα-ωЀ-я'’-]{2,9}$/u).filter((text) => /^\p{L}.*\p{L}$/u.test(text))
const name = fc.array(part, { minLength: 2, maxLength: 3 }).map((parts) => parts.join(' '))
const address = fc
  .tuple(fc.stringMatching(/^[a-z][a-z0-9._-]{1,9}[a-z]$/), fc.stringMatching(/^[a-zäöü]{2,9}\.(?:com|example|co)$/))
  .map((parts) => parts.join('@'))

describe('spellings', () => {
  test('of a name or an address are replaced, and nothing around them', () => {
    const around = fc.constantFrom(
      ['by ', ' again'],
      ['(', ')'],
      ['"', '"'],
      ['', ''],
      ['/home/', '/web'],
      ['é ', ' – 100%'],
    )
    const spelled = fc.oneof(name, address).chain((word) => fc.tuple(fc.constant(word), spellingOf(word), around))
    fc.assert(
      fc.property(spelled, ([word, spelling, [before, after]]) => {
        const kind = word.includes('@') ? 'emails' : 'names'
        const words = { emails: [], names: [], accountNames: [], pseudonym: PSEUDONYM, [kind]: [word] }
        const { inText, inJson } = replacing(words, { ofAccount: false })
        const pseudonym = PSEUDONYM[kind === 'emails' ? 'email' : 'name']
        const text = `${before}${spelling}${after}`
        const expected = `${before}${pseudonym}${after}`
        expect(inText(text)).toBe(expected)
        expect(inJson(`{ ${JSON.stringify(text)} : [1.50, ${JSON.stringify(text)}]}`)).toBe(
          `{ ${JSON.stringify(expected)} : [1.50, ${JSON.stringify(expected)}]}`,
        )
        if (kind === 'names' && !/[+\\%]/.test(spelling)) {
          expect(foldSpelling(spelling).replaceAll(' ', '')).toBe(foldSpelling(word).replaceAll(' ', ''))
        }
      }),
      { numRuns: runs(20_000, 2_000) },
    )
  })
})

const PERSON = { email: 'zoe.o@bücher.example', name: 'Zoë O’Brien-Weiß' }
const OTHERS = { email: 'zoe.o+bot@bücher.example', name: 'Zoë O’Brien-Weiß Meier' }
const SIMILAR = [
  OTHERS.email,
  OTHERS.name,
  'Chloë O’Brien-Weiß',
  'Zoë O’Brien-Weißmann',
  'Zoe O’Brien-Weiß',
  'meier.zoe.o@bücher.example',
  'zoe.o@bücher.example.org',
  '100% – Zoë, O’Brien',
]

interface Planted {
  spelling: string
  kind: 'name' | 'email'
}

const plantedAs = (kind: Planted['kind']) => spellingOf(PERSON[kind]).map((spelling): Planted => ({ spelling, kind }))

/** A row for each table with texts that are replaced. */
async function fill(db: Database, services: Services): Promise<void> {
  const { people, entries, projects, placement } = services
  const keeper = await people.addUser({ email: 'keeper@example.com', name: 'Keeper', role: 'admin' }, TALLY)
  await people.addUser({ ...PERSON, role: 'member' }, TALLY)
  await people.addUser({ ...OTHERS, role: 'member' }, TALLY)
  const grace = await addReporter(people, { name: 'Grace' })
  const project = await projects.addProject(OPERATOR, { key: 'ACME' })
  await placement.addRule(TALLY, {
    name: 'x',
    conditions: [{ field: 'agent_name', matches: 'x' }],
    project: 'ACME',
    ticket: null,
  })
  const report = reportBody({ session_id: 'one', labels: { a: 'b' }, ticket: 'ACME-1' })
  const { entry } = await entries.reporting.reportEntry(report, grace)
  await entries.places.changeEntry(entry.id, { summary: 'new' }, OPERATOR)
  await db.write(async (tx) => {
    const { tables } = tx
    const only = async (table: PgTable) => {
      const { id } = getTableColumns(table) as Record<string, PgColumn>
      const [row] = await tx.select({ id: max(id!) }).from(table)
      return Number(row!.id)
    }
    const [createdBy, sessionId, chainModelId, projectId] = [
      keeper.id,
      await only(tables.sessions),
      await only(tables.names),
      await only(tables.projects),
    ]
    const times = { createdAt: 1, startsAt: 1, endsAt: 2, at: 1, expiresAt: 2 }
    const secret = new Uint8Array(32)
    const rows: [PgTable, Record<string, unknown>][] = [
      [
        tables.shareLinks,
        { uid: newId('shr'), hash: secret, createdBy, report: {}, money: 'none', showsPeople: false, ...times },
      ],
      [tables.reportViews, { uid: newId('rvw'), ownerId: createdBy, name: '', parameters: {}, ...times }],
      [
        tables.budgets,
        {
          uid: newId('bdg'),
          name: '',
          labelName: 'a',
          labelValue: 'b',
          measure: 'cost',
          amount: 1n,
          period: 'month',
          rollOver: false,
          thresholds: [],
          ofProject: false,
          version: 1,
          ...times,
        },
      ],
      [tables.notifications, { recipient: '', topic: 'attention', key: 'x', subject: '', body: '', ...times }],
      [tables.notificationEmails, { recipient: '', state: 'queued', attempts: 0, nextAttemptAt: 1, ...times }],
      [
        tables.ruleProposals,
        {
          uid: newId('rpr'),
          name: '',
          repository: 'a/b',
          conditions: [],
          projectId,
          state: 'open',
          proposedBy: createdBy,
          ...times,
        },
      ],
      [
        tables.billDrafts,
        { uid: newId('bdr'), form: {}, revision: 1, createdBy, updatedBy: createdBy, updatedAt: 1, ...times },
      ],
      [tables.sessionSources, { sessionId, chainModelId, source: 'log', totals: {} }],
      [
        tables.sheets,
        {
          uid: newId('sht'),
          managerId: createdBy,
          firstDay: '2026-11-01',
          lastDay: '2026-11-02',
          startingAt: 1,
          endingAt: 2,
          status: 'returned',
          reason: 'x',
          submittedAt: 1,
          decidedAt: 1,
          ...times,
        },
      ],
      [tables.telemetrySessions, { sessionId, facts: {}, lastSeenAt: 1, remembers: false }],
      [tables.telemetryTotals, { sessionId, chainModelId, source: 'log', totals: {} }],
      [tables.events, { type: 'project.created', ...times }],
      [
        tables.webhookEndpoints,
        {
          uid: newId('whk'),
          name: '',
          url: 'https://a.example',
          format: 'standard',
          types: ['*'],
          secret,
          cursor: 0,
          ...times,
        },
      ],
      [tables.prices, { uid: newId('prc'), provider: 'x', model: 'x', source: 'x', loadedAt: 1 }],
      [
        tables.priceLoads,
        {
          uid: newId('pld'),
          format: 'x',
          digest: 'x',
          asOf: 1,
          counts: {},
          loadedAt: 1,
          notice: {},
          replacedAliases: [],
        },
      ],
      [tables.priceAliases, { alias: 'x', model: 'y', source: 'x', ...times }],
      [
        tables.plans,
        { uid: newId('pln'), name: 'x', vendor: 'x', product: 'x', holder: 'organization', vendorCodes: [], ...times },
      ],
      [tables.fundingRules, { uid: newId('frl'), position: 1, enabled: true, ...times }],
      [tables.fundings, { uid: newId('fnd'), funding: 'unknown', reason: 'none' }],
    ]
    for (const [table, row] of rows) await tx.insert(table).values(row as never)
    const [planId, ruleId] = [await only(tables.plans), await only(tables.fundingRules)]
    const terms = { period: 'month', fee: 1n, currency: 'USD', seats: 1 }
    await tx.insert(tables.planVersions).values({ planId, fromDay: '2026-11-01', conditions: [], ...terms } as never)
    const version = { ruleId, version: 1, name: 'x', conditions: [], funding: 'metered', ...times }
    await tx.insert(tables.fundingRuleVersions).values(version as never)
    const endpointId = await only(tables.webhookEndpoints)
    await tx
      .insert(tables.webhookDeliveries)
      .values({ endpointId, type: 'x', kind: 'event', attempt: 1, at: 1, latencyMs: 1, body: '{}', response: '' })
    expect(project).toBeDefined()
  })
}

/** Every value of the database, by its table, row and column. */
async function valuesOf(db: Database): Promise<Map<string, string>> {
  const values = new Map<string, string>()
  for (const [name, { key }] of Object.entries(TEXT_COLUMNS)) {
    const table: PgTable = db.read.tables[name as TextTable]
    const columns = getTableColumns(table) as Record<string, PgColumn>
    const selected = Object.entries(columns).map(([column, of]) => [
      column,
      of.getSQLType() === 'text' ? sql`${of}` : of,
    ])
    for (const row of await db.read.select(Object.fromEntries(selected)).from(table)) {
      const id = key.map((column) => row[column]).join(',')
      for (const [column, value] of Object.entries(row)) values.set(`${name} ${id} ${column}`, String(value))
    }
  }
  return values
}

interface Texts {
  key: string[]
  text?: string[]
  json?: string[]
  sessionIds?: string[]
}

/** A document of the same kind, with a text as a name and as a value. */
function documentLike(json: string | null, text: string): string {
  const existing = JSON.parse(json ?? '{}')
  if (Array.isArray(existing)) return JSON.stringify([{ load_id: null, number: 1.5, [text]: text }])
  // Labels have only texts.
  return JSON.stringify('a' in existing ? { [text]: text } : { list: [1.5, text], [text]: { text } })
}

/** Writes texts to the last row of every column in which words are replaced. Returns what an erasure should leave. */
async function plant(
  db: Database,
  planted: readonly Planted[],
  pseudonym: typeof PSEUDONYM,
): Promise<Map<string, string>> {
  const expected = new Map<string, string>()
  // Few in each, since indexes of PostgreSQL limit the length of a text.
  let next = 0
  const texts = () => {
    const some = Array.from({ length: 6 }, () => planted[next++ % planted.length]!)
    const around = (words: readonly string[]) => [...SIMILAR, ...words, SIMILAR[0]].join(', ')
    return [around(some.map(({ spelling }) => spelling)), around(some.map(({ kind }) => pseudonym[kind]))] as const
  }
  const replaced = Object.entries(TEXT_COLUMNS as Record<TextTable, Texts>).filter(
    ([, { text, json, sessionIds }]) => text ?? json ?? sessionIds,
  ) as [TextTable, Texts][]
  await db.write(async (tx) => {
    for (const [name, { key, text = [], json = [], sessionIds = [] }] of replaced) {
      const table: PgTable = tx.tables[name]
      const columns = getTableColumns(table) as Record<string, PgColumn>
      const selected = [...key.map((of) => [of, columns[of]!]), ...json.map((of) => [of, sql`${columns[of]!}`])]
      const [row] = await tx
        .select(Object.fromEntries(selected) as Record<string, PgColumn>)
        .from(table)
        .orderBy(desc(columns[key[0]!]!))
        .limit(1)
      // A new table needs a row in `fill`.
      expect([name, row]).toEqual([name, expect.anything()])
      const changes = [
        ...text.map((column) => [column, ...texts()] as const),
        ...json.map((column) => {
          const document = (text: string) => documentLike(row![column] as string | null, text)
          const [from, to] = texts()
          return [column, document(from), document(to)] as const
        }),
        ...sessionIds.map((column) => {
          const [from] = texts()
          return [column, from, hashOfSessionId(from)] as const
        }),
      ]
      await tx
        .update(table)
        .set(Object.fromEntries(changes.map(([column, from]) => [column, sql`${from}`])))
        .where(and(...key.map((of) => eq(columns[of]!, row![of]))))
      const id = key.map((of) => row![of]).join(',')
      for (const [column, , to] of changes) expected.set(`${name} ${id} ${column}`, to)
    }
    // Each alone, so that nothing else in a text makes the query find it.
    const rows = planted.map(({ spelling }, at) => ({ text: `agent ${at} of ${spelling}` }))
    const inserted = await tx.insert(tx.tables.names).values(rows).returning({ id: tx.tables.names.id })
    for (const [at, { id }] of inserted.entries()) {
      expected.set(`names ${id} text`, `agent ${at} of ${pseudonym[planted[at]!.kind]}`)
    }
  })
  return expected
}

forEachEngine('an erasure', (_, engine) => {
  const cleanUps: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const step of cleanUps.reverse()) await step()
  })

  test('leaves no spelling in any column, export or backup, and changes nothing else', async () => {
    const location = await newLocation(engine, cleanUps)
    const db = await openDatabase({ ...location, clock: systemClock })
    const services = createServices({ db, clock: systemClock })
    await fill(db, services)
    const { erasure } = services.personalData
    const { words, user } = await erasure.planErasure(PERSON.email)
    expect(words.others?.toSorted()).toEqual(Object.values(OTHERS).toSorted())
    const planted = fc.sample(fc.oneof(plantedAs('name'), plantedAs('email')), runs(300, 100))
    // Texts of the logs change only while somebody is being erased.
    const { erasures } = db.read.tables
    await db.write(async (tx) => {
      await tx.insert(erasures).values({ userId: user.id, words, counts: {}, startedAt: 1, endedAt: null })
    })
    const expected = await plant(db, planted, words.pseudonym)
    await db.write(async (tx) => void (await tx.delete(erasures)))
    const before = await valuesOf(db)

    const { replaced, near } = await erasure.planErasure(PERSON.email)
    expect(near.map(({ spelling }) => spelling)).toContain('Zoe O’Brien-Weiß')
    await erasure.erase(PERSON.email, [], TALLY)
    await erasure.finishAll()

    const after = await valuesOf(db)
    const isOther = (place: string) => {
      const [table, row] = place.split(' ')
      // The account, what the logs have of it, and what a change of prices or plans owes.
      return (
        ['organization', 'erasures', 'labelPairs', 'owedWork', 'fundingOwed'].includes(table!) ||
        (table === 'users' && row === String(user.id)) ||
        after.get(`${table} ${row} objectId`) === user.uid
      )
    }
    const changed = [...after].filter(
      ([place, value]) => before.has(place) && before.get(place) !== value && !isOther(place),
    )
    expect(Object.fromEntries(changed)).toEqual(Object.fromEntries(expected))
    const { record } = await erasure.getErasure(user.uid)
    expect(replaced).toEqual(record.counts)

    const texts = [...after.values(), await exportOf(db)]
    await db.close()
    if (engine === 'sqlite') {
      const file = join(location.dataDir!, DATABASE_FILE)
      compactFile(file)
      await backUp({ from: file, to: `${file}.backup`, madeAt: Date.now() })
      texts.push(readFileSync(file, 'utf8'), readFileSync(`${file}.backup`, 'utf8'))
    }
    const left = texts.flatMap((text) => {
      const ofNobodyElse = SIMILAR.reduce((rest, other) => rest.replaceAll(other, ''), text)
      return planted.filter(
        ({ spelling }) =>
          ofNobodyElse.includes(spelling) || ofNobodyElse.includes(JSON.stringify(spelling).slice(1, -1)),
      )
    })
    expect(left).toEqual([])
  })
})
