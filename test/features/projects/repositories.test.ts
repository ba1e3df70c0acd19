/**
 * What leads see of the repositories of their projects: for random repositories and places, exactly the union of their
 * own entries, those of their projects, and the unattributed ones of these projects' repositories. Each entry uses a
 * power of two of tokens, so that every sum says of which entries it is.
 */
import { Database as Connection } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { desc, eq } from 'drizzle-orm'
import fc from 'fast-check'
import { viewerOf, visibleEntries } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { DATABASE_FILE } from '../../../src/database/open.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine, locationOf } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const NOVEMBER = 'starting_at=2026-11-01&ending_at=2026-12-01'
const REPOSITORIES = ['acme/web', 'Acme/web', 'acme/api', undefined] as const
const PLACES = ['LED', 'OTHER', undefined] as const
const OWNERS = ['lead', 'member', 'colleague'] as const
type Owner = (typeof OWNERS)[number]

/** Every combination of owner, repository and place. */
const WORK = OWNERS.flatMap((owner) =>
  REPOSITORIES.flatMap((repository) => PLACES.map((project) => ({ owner, repository, project }))),
).map((work, at) => ({ ...work, tokens: 2 ** at }))

const some = fc.uniqueArray(fc.constantFrom('acme/web', 'acme/api', 'nowhere'), { maxLength: 3 })
const decided = fc.record({ LED: some, OTHER: some, archived: fc.boolean() })

forEachEngine('what leads see of repositories', (open) => {
  let db: Database
  let app: TestApp
  let admin: string
  const sessions = {} as Record<Owner, string>
  const ids: string[] = []

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db })
    admin = await app.session('admin')
    for (const owner of OWNERS) {
      const email = `${owner}@example.com`
      await post('users', { email, name: owner, role: 'member' })
      await app.services.people.setPassword(email, PASSWORD, { userId: null, tokenId: null, origin: '' })
      const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
      sessions[owner] = `tally_session=${secret}`
    }
    await post('projects', { key: 'LED', leads: ['lead@example.com'] })
    await post('projects', { key: 'OTHER', leads: ['colleague@example.com'] })
    for (const { owner, repository, project, tokens } of WORK) {
      const sent = await app.call('POST /api/v1/token-entries', {
        token: await app.token('svc', `${owner}@example.com`),
        json: reportBody({
          ...(repository && { labels: { repository, branch: `b${tokens}` } }),
          ...(project && { project }),
          summary: `zebra ${tokens}`,
          tokens: { input: tokens, output: 0 },
          started_at: '2026-11-20T10:00:00Z',
          ended_at: '2026-11-20T10:20:00Z',
        }),
      })
      expect(sent.status).toBe(201)
      ids.push(sent.json.id)
    }
    await app.call('PATCH /api/v1/settings', { session: admin, json: { share_links: true } })
  }, 300_000)
  afterAll(() => app.close())

  const post = async (path: string, json: object) => {
    const answer = await app.call(`POST /api/v1/${path}`, { session: admin, json })
    expect([path, answer.status < 300, answer.status < 300 || answer.text]).toEqual([path, true, true])
    return answer.json
  }
  const get = (owner: Owner, path: string) => app.call(`GET /api/v1/${path}`, { session: sessions[owner] })

  type Decided = { LED: string[]; OTHER: string[]; archived: boolean }
  async function decide({ LED, OTHER, archived }: Decided): Promise<void> {
    for (const [key, repositories] of Object.entries({ LED, OTHER })) {
      await app.call(`POST /api/v1/projects/${key}/restore`, { session: admin })
      const changed = await app.call(`PATCH /api/v1/projects/${key}`, { session: admin, json: { repositories } })
      expect(changed.json.repositories).toEqual(repositories.toSorted())
    }
    if (archived) await app.call('POST /api/v1/projects/OTHER/archive', { session: admin })
  }

  /** Which entries somebody sees. */
  function seenBy(owner: Owner, { LED, OTHER, archived }: Decided): boolean[] {
    const led = { lead: 'LED', member: null, colleague: 'OTHER' }[owner]
    const repositories: readonly string[] = led === 'LED' ? LED : led === 'OTHER' && !archived ? OTHER : []
    return WORK.map(
      (work) =>
        work.owner === owner ||
        (led !== null && work.project === led) ||
        (!work.project && work.repository !== undefined && repositories.includes(work.repository)),
    )
  }

  const sumOf = (seen: boolean[], isWanted: (work: (typeof WORK)[number]) => boolean = () => true) =>
    WORK.reduce((sum, work, at) => sum + (seen[at] && isWanted(work) ? work.tokens : 0), 0)

  /** The sum of everything that each way in shows. */
  async function expectSeen(owner: Owner, seen: boolean[]): Promise<void> {
    const total = sumOf(seen)
    const isNowhere = ({ project }: (typeof WORK)[number]) => !project
    const uids = ids.filter((_, at) => seen[at]).toSorted()
    const list = await get(owner, 'token-entries?limit=100')
    expect(list.json.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(uids)
    for (const query of ['sort=tokens', 'q=zebra', 'updated_since=2026-01-01', 'placed=none']) {
      const { status, json } = await get(owner, `token-entries?limit=100&${query}`)
      const found = json.data?.reduce((sum: number, { tokens }: { tokens: { total: number } }) => sum + tokens.total, 0)
      expect([query, status, found]).toEqual([query, 200, query === 'placed=none' ? sumOf(seen, isNowhere) : total])
    }
    const csv = await get(owner, 'token-entries?format=csv')
    expect(ids.filter((id) => csv.text.includes(id)).toSorted()).toEqual(uids)
    for (const query of ['', '&group_by=label:branch', '&group_by=project', '&q=zebra', '&placed=none']) {
      const { status, json } = await get(owner, `reports/usage?${NOVEMBER}&bucket_width=all${query}`)
      const expected = query === '&placed=none' ? sumOf(seen, isNowhere) : total
      expect([query, status, json.totals?.tokens.total]).toEqual([query, 200, expected])
    }
    const unattributed = await get(owner, `reports/unattributed?${NOVEMBER}`)
    expect(
      unattributed.json.data.reduce((sum: number, group: { tokens: { total: number } }) => sum + group.tokens.total, 0),
    ).toBe(sumOf(seen, isNowhere))
    const events = await get(owner, 'events?limit=1000&types=entry.created')
    const told = new Set(events.json.data?.map(({ object }: { object: { id: string } | null }) => object?.id))
    expect(events.status).toBe(200)
    expect(ids.filter((id) => told.has(id)).toSorted()).toEqual(uids)
    for (const [at, id] of ids.entries()) {
      if (at % 5 === 0) expect((await get(owner, `token-entries/${id}`)).status).toBe(seen[at] ? 200 : 404)
    }
    const shared = await app.call('POST /api/v1/share-links', {
      session: sessions[owner],
      json: { report: { starting_at: '2026-11-01', ending_at: '2026-12-01', group_by: ['model'] } },
    })
    expect(shared.status).toBe(201)
    const page = await fetch(new URL(new URL(shared.json.link).pathname, app.url))
    expect((await page.text()).replaceAll(/[^\d<]/g, '')).toContain(String(total))
    await app.call(`POST /api/v1/share-links/${shared.json.id}/revoke`, { session: sessions[owner] })
  }

  const check = async (runs: number) =>
    fc.assert(
      fc.asyncProperty(decided, async (given) => {
        await decide(given)
        for (const owner of OWNERS) await expectSeen(owner, seenBy(owner, given))
      }),
      { numRuns: runs, examples: [[{ LED: ['acme/web'], OTHER: ['acme/web', 'acme/api'], archived: false }]] },
    )

  test(
    'is the union of their own, their projects’ and their repositories’, by every way in',
    () => check(runs(4, 2)),
    300_000,
  )

  test('is the same from the roll-up', async () => {
    const { rollup } = app.services.reports
    while ((await rollup.step()) !== 'idle');
    await check(runs(3, 2))
  }, 300_000)

  test('is for billing and admins to decide, whatever a lead places on their project', async () => {
    await decide({ LED: [], OTHER: [], archived: false })
    const own = ids.filter((_, at) => WORK[at]!.owner === 'lead' && !WORK[at]!.project)
    const place = await app.call('POST /api/v1/token-entries/actions', {
      session: sessions.lead,
      json: { action: 'place', ids: own, project: 'LED' },
    })
    expect(place.json).toMatchObject({ done: own.length })
    const { json } = await get('lead', 'token-entries?limit=100')
    const others = json.data.filter(
      (entry: { agent_manager: { name: string }; project: unknown }) =>
        entry.agent_manager.name !== 'lead' && entry.project === null,
    )
    expect(others).toEqual([])
    for (const json of [{ repositories: ['acme/web'] }, { aliases: ['acme web'], repositories: [] }]) {
      const refused = await app.call('PATCH /api/v1/projects/LED', { session: sessions.lead, json })
      expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining('repositories')])
    }
  })

  test('costs those nothing who lead no repository', async () => {
    const { users } = db.read.tables
    const [lead] = await db.read.select().from(users).where(eq(users.email, 'lead@example.com'))
    const viewer = viewerOf(lead!)
    async function planOf(): Promise<string> {
      const { entries } = db.read.tables
      const condition = await visibleEntries(db.read, viewer)
      const query = db.read.select({ id: entries.id }).from(entries).where(condition).orderBy(desc(entries.startedAt))
      const { sql, params } = query.limit(10).toSQL()
      const { dataDir, databaseUrl } = locationOf(db)
      // Without statistics, the planner of PostgreSQL reads a few entries in any way.
      if (databaseUrl) return sql
      using connection = new Connection(join(dataDir!, DATABASE_FILE), { readonly: true })
      return JSON.stringify([sql, connection.query(`EXPLAIN QUERY PLAN ${sql}`).all(...(params as number[]))])
    }
    await decide({ LED: [], OTHER: ['acme/web'], archived: false })
    const plan = await planOf()
    expect(plan).not.toContain('project_repositories')
    if (!locationOf(db).databaseUrl) {
      expect(plan).not.toContain('SCAN entries')
      for (const index of ['entries_by_manager', 'entries_by_project']) expect(plan).toContain(index)
    }
    await decide({ LED: ['acme/web'], OTHER: [], archived: false })
    expect(await planOf()).toContain('project_repositories')
  })
})
