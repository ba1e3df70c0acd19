/**
 * Nobody changes what is not theirs. Members, of whom one leads a project, one a client with a project, and one approves
 * for another and as the deputy of that lead, act at random by every way in, on everyone's
 * sessions, tickets, projects, sheets and entries. No entry and no project changes by somebody without the right, and
 * what others report afterwards goes where it would have gone without those acts.
 *
 * TALLY_TEST_OWNERSHIP_RUNS says how many random histories there are per engine.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { asc, gt } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import type { UnknownProjects } from '../../../src/database/schema/values.ts'
import { type Call, PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runs } from '../../support/tier.ts'

const RUNS = Number(process.env.TALLY_TEST_OWNERSHIP_RUNS ?? runs(3))
const ACTS = 40

interface Actor {
  id: number
  email: string
  token: string
  session: string
  /** The key of the project that this member leads. */
  leads: string | null
  /** The keys of the projects whose entries this member may approve. */
  approves: readonly string[]
}

interface Responsibilities {
  leads: string | null
  approves: readonly string[]
}

const MEMBERS: Responsibilities[] = [
  { leads: null, approves: [] },
  { leads: null, approves: ['ACME', 'LED'] },
  { leads: 'LED', approves: ['LED'] },
  { leads: 'OTHER', approves: ['OTHER'] },
]
const PROJECTS = ['ACME', 'LED', 'OTHER', 'Acme web', 'Side job', 'none', undefined] as const
const TICKETS = ['ACME-1', 'LED-1', 'ZED-1', 'zed/web#2', undefined] as const
const ALIASES = ['ZED', 'hr-salaries', 'Side job', 'Web shop', 'zed/web'] as const
const DECISIONS = ['approve', 'reopen', 'withdraw-approval', 'release', 'discard', 'void', 'restore'] as const
const REPOSITORIES = ['led', 'acme', undefined] as const

/** One random act: who does what, with which of the things that there are. */
const anAct = fc.record({
  who: fc.nat(MEMBERS.length - 1),
  what: fc.constantFrom(
    ...([
      'report',
      'report',
      'report',
      'batch',
      'telemetry',
      'telemetry',
      'sheet',
      'import',
      'patch',
      'patch',
    ] as const),
    ...(['place', 'decide', 'ticket', 'title', 'archive', 'alias', 'project', 'manage', 'sheets'] as const),
  ),
  project: fc.constantFrom(...PROJECTS),
  ticket: fc.constantFrom(...TICKETS),
  alias: fc.constantFrom(...ALIASES),
  repository: fc.constantFrom(...REPOSITORIES),
  session: fc.nat(3),
  target: fc.nat(),
  amount: fc.integer({ min: 1, max: 500 }),
})
type Act = typeof anAct extends fc.Arbitrary<infer Value> ? Value : never

type Said = { [Name in keyof Act]?: Act[Name] | undefined }

/** By these a member says something of their own use, and may change nothing of anybody else’s. */
const SAYS = new Set<Act['what']>(['report', 'batch', 'telemetry', 'sheet', 'import'])

/** By these a lead decides for others. */
const DECIDES = new Set<Act['what']>(['ticket', 'alias'])

const histories = fc
  .tuple(fc.array(anAct, { minLength: ACTS, maxLength: ACTS }), fc.boolean())
  .map(([acts, decides]) => (decides ? acts : acts.filter(({ what }) => !DECIDES.has(what))))

forEachEngine('what one person says', (open) => {
  let db: Database
  let app: TestApp
  let members: Actor[]
  let honest: Actor
  let round = 0
  let acts = 0
  let approvals = 0

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db })
    const actor = async ({ leads, approves }: Responsibilities): Promise<Actor> => {
      const email = await app.person('member', { password: true })
      const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
      const { id } = (await app.services.people.findUser(email))!
      // One of them leads by way of the client.
      if (leads === 'LED') await manage('POST /api/v1/clients', { name: 'Led Ltd', leads: [email] })
      if (leads === 'LED') await manage('POST /api/v1/projects', { key: leads, client: 'Led Ltd' })
      else if (leads) await manage('POST /api/v1/projects', { key: leads, leads: [email] })
      return { id, email, leads, approves, token: await app.token('svc', email), session: `tally_session=${secret}` }
    }
    const admin = await app.session('admin')
    const manage = async (call: string, json: unknown) => {
      const answer = await app.call(call, { session: admin, json })
      expect([answer.status, answer.text]).toEqual([201, answer.text])
    }
    members = []
    for (const responsibilities of MEMBERS) members.push(await actor(responsibilities))
    honest = await actor({ leads: null, approves: [] })
    const [, approver, lead] = members.map(({ email }) => email)
    await manage('POST /api/v1/projects', { key: 'ACME', name: 'Acme web', approvers: [approver] })
    const days = {
      from: new Date().toISOString().slice(0, 10),
      to: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
    }
    await manage('POST /api/v1/deputies', { person: lead, deputy: approver, ...days })
    // What is spent of each must always be what its entries are.
    const budgets = [
      {},
      { project: 'LED' },
      { client: 'Led Ltd' },
      { agent_manager: lead },
      { model: 'claude-sonnet-5' },
    ]
    for (const scope of [...budgets, { label: 'repository:led' }, { project: 'ACME', agent_manager: approver }]) {
      await manage('POST /api/v1/budgets', { scope, amount: 1 })
      await manage('POST /api/v1/budgets', { scope, amount: 1_000, measure: 'tokens', period: 'week' })
      await manage('POST /api/v1/budgets', { scope, amount: 1, measure: 'billed_amount', period: 'once' })
    }
    await app.services.budgets.count()
    await manage('POST /api/v1/placement-rules', {
      name: 'led',
      conditions: [
        { field: 'labels.repository', matches: 'led' },
        { field: 'labels.branch', matches: '/(?<ticket>.+)/' },
      ],
      project: 'LED',
      ticket: '{ticket}',
    })
  })
  afterAll(async () => {
    console.log(`${acts} acts, ${approvals} approvals`)
    await app.close()
  })

  /** Names of this round: what one random history leaves behind is not met by the next one. */
  const inRound = (key: string, name: number | string = round) => key.replace(/[-#]/, (mark) => `-${name}x${mark}`)

  function body({ project, ticket, session, repository, amount = 1 }: Said, name: number | string) {
    return {
      agent_harness: 'claude-code',
      agent_name: 'builder',
      model: 'claude-sonnet-5',
      started_at: '2026-11-20T10:00:00Z',
      ended_at: new Date(Date.UTC(2026, 10, 20, 11, 0, amount)).toISOString(),
      tokens: { input: amount, output: amount },
      reported_cost: amount,
      ...(session !== undefined && { session_id: `run-${name}-${session}` }),
      ...(project !== undefined && { project }),
      ...(ticket !== undefined && { ticket: inRound(ticket, name) }),
      ...(repository !== undefined && {
        labels: { repository, ...(ticket !== undefined && { branch: inRound(ticket, name) }) },
      }),
    }
  }

  function telemetryOf({ project, ticket, session, amount }: Act) {
    const attributes = (values: Record<string, string | number | undefined>) =>
      Object.entries(values).flatMap(([key, value]) =>
        value === undefined
          ? []
          : [{ key, value: typeof value === 'number' ? { intValue: value } : { stringValue: value } }],
      )
    return {
      resourceLogs: [
        {
          resource: {
            attributes: attributes({ 'service.name': 'claude-code', project, ticket: ticket && inRound(ticket) }),
          },
          scopeLogs: [
            {
              scope: { name: 'com.anthropic.claude_code.events' },
              logRecords: [
                {
                  timeUnixNano: `${1_795_168_800_000 + amount}000000`,
                  body: { stringValue: 'claude_code.api_request' },
                  attributes: attributes({
                    'event.name': 'api_request',
                    'session.id': `run-${round}-${session}`,
                    model: 'claude-sonnet-5',
                    input_tokens: amount,
                    output_tokens: 2 * amount,
                    request_id: `req-${acts}`,
                    cost_usd: 9_999.5,
                  }),
                },
              ],
            },
          ],
        },
      ],
    }
  }

  async function entriesFrom(first: number) {
    const { entries } = db.read.tables
    return db.read.select().from(entries).where(gt(entries.id, first)).orderBy(asc(entries.id))
  }
  type Row = Awaited<ReturnType<typeof entriesFrom>>[number]

  async function workOf() {
    const { projects, projectLeads, projectApprovers, clientLeads, clientApprovers, deputies, clients } = db.read.tables
    return {
      approvers: await db.read.select().from(projectApprovers),
      clientLeads: await db.read.select().from(clientLeads),
      clientApprovers: await db.read.select().from(clientApprovers),
      deputies: await db.read.select().from(deputies),
      projects: await db.read.select().from(projects).orderBy(asc(projects.id)),
      leads: await db.read.select().from(projectLeads),
      clients: await db.read.select().from(clients),
    }
  }

  const csvOf = (row: ReturnType<typeof body>) =>
    `agent_harness,agent_name,model,started_at,ended_at,input,output,reported_cost,project,ticket\r\n${[
      row.agent_harness,
      row.agent_name,
      row.model,
      row.started_at,
      row.ended_at,
      row.tokens.input,
      row.tokens.output,
      row.reported_cost,
      row.project ?? '',
      row.ticket ?? '',
    ].join(',')}\r\n`

  async function carryOut(act: Act, actor: Actor, rows: Row[]): Promise<{ status: number }> {
    const { what, project, ticket, alias, amount } = act
    const by = (call: Call) => ({ session: actor.session, ...call })
    const target = rows.length === 0 ? 'ent_none' : rows[act.target % rows.length]!.uid
    const place = {
      ...(project !== undefined && { project }),
      ...(ticket !== undefined && { ticket: inRound(ticket) }),
    }
    const key = ticket === undefined ? 'none' : encodeURIComponent(inRound(ticket))
    const sheets = await app.call('GET /api/v1/token-sheets?limit=1', by({}))
    const sheet = sheets.json.data[0]?.id
    const row = body({ ...act, session: undefined, repository: undefined }, round)
    switch (what) {
      case 'report':
        return app.call('POST /api/v1/token-entries', { token: actor.token, json: body(act, round) })
      case 'batch': {
        const json = [0, 1, 2, 3].map((session) => body({ ...act, session }, round))
        return app.call('POST /api/v1/token-entries/batch', { token: actor.token, json })
      }
      case 'telemetry':
        return app.call('POST /api/v1/telemetry/v1/logs', { token: actor.token, json: telemetryOf(act) })
      case 'sheet':
        if (!sheet) return app.call('POST /api/v1/token-sheets', by({ json: { from: '2026-11-01', to: '2026-11-30' } }))
        return app.call(`POST /api/v1/token-sheets/${sheet}/entries`, by({ json: row }))
      case 'import': {
        const headers = { 'content-type': 'text/csv' }
        return app.call(`POST /api/v1/token-sheets/${sheet}/import`, by({ body: csvOf(row), headers }))
      }
      case 'patch': {
        const json = amount % 3 === 0 ? { labels: { repository: 'led', branch: 'x' } } : place
        return app.call(`PATCH /api/v1/token-entries/${target}`, by({ json }))
      }
      case 'place': {
        const chosen =
          amount % 2 === 0 ? { ids: rows.map(({ uid }) => uid).slice(-50) } : { filter: { placed: 'none' } }
        return app.call('POST /api/v1/token-entries/actions', by({ json: { action: 'place', ...chosen, ...place } }))
      }
      case 'decide': {
        const decision = DECISIONS[amount % DECISIONS.length]
        const json = decision === 'void' ? { reason: 'A mistake', later_reports: 'ignore' } : undefined
        return app.call(`POST /api/v1/token-entries/${target}/${decision}`, by(json ? { json } : {}))
      }
      case 'ticket':
        return app.call(`PATCH /api/v1/tickets/${key}`, by({ json: { project: project ?? null } }))
      case 'title':
        return app.call(`PATCH /api/v1/tickets/${key}`, by({ json: { title: `Title ${amount}` } }))
      case 'archive':
        return app.call(`POST /api/v1/tickets/${key}/archive`, by({}))
      case 'alias':
        return app.call(`PATCH /api/v1/projects/${actor.leads ?? 'LED'}`, by({ json: { aliases: [alias] } }))
      case 'project':
        return app.call(`PATCH /api/v1/projects/${project ?? 'ACME'}`, by({ json: { leads: [], budget: amount } }))
      case 'manage':
        return app.call('POST /api/v1/projects/ACME/merge', by({ json: { into: actor.leads ?? 'LED' } }))
      case 'sheets':
        return app.call(`DELETE /api/v1/token-sheets/${sheet ?? 'sht_none'}`, by({}))
    }
  }

  /** Whether the act may change the entry at all: it is the actor’s, or in a project that they lead and act on. */
  function mayChange(actor: Actor, act: Act, row: Row, ids: ReadonlyMap<string, number>): boolean {
    if (row.managerId === actor.id) return true
    const isOf = (key: string) => row.projectId === ids.get(key)
    if (act.what === 'decide' && actor.approves.some(isOf)) return true
    return !SAYS.has(act.what) && actor.leads !== null && isOf(actor.leads)
  }

  /** Nobody approves their own usage, nor does their deputy. */
  function isAllowedApproval(actor: Actor, { managerId, projectId }: Row, ids: ReadonlyMap<string, number>): boolean {
    if (managerId === actor.id) return false
    const [, deputy, lead] = members
    return actor !== deputy || managerId !== lead!.id || projectId !== ids.get('LED')
  }

  const shown = (row: Row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value))

  /** Where reports of somebody else go, without what is only spelled differently. */
  async function probe(name: number | string): Promise<string[]> {
    const found: string[] = []
    for (const project of PROJECTS) {
      for (const ticket of TICKETS) {
        for (const repository of [undefined, 'led'] as const) {
          const json = body({ project, ticket, repository, amount: 1, session: undefined }, name)
          const answer = await app.call('POST /api/v1/token-entries', { token: honest.token, json })
          const { project: at, ticket: on, placement } = answer.json
          found.push(
            [project, ticket, repository, answer.status, at?.key, on?.key, placement?.by, placement?.named_ticket]
              .join(' ')
              .replaceAll(`-${name}x`, '')
              .toLowerCase(),
          )
        }
      }
    }
    return found
  }

  /** All rows of a list, page by page. */
  async function everything(path: string, next: (page: Record<string, string>) => string, { session }: Actor) {
    const rows: { id: string; source: string; type: string; object: { id: string } | null }[] = []
    for (let query = ''; ; ) {
      const { json } = await app.call(`GET ${path}?limit=1000${query}`, { session })
      rows.push(...json.data)
      if (!json.has_more) return rows
      query = next(json)
    }
  }

  /** The events of entries are of those that the lists show, and each of these that was reported has one. */
  async function seesEventsOfVisibleEntries(member: Actor): Promise<void> {
    const listed = await everything('/api/v1/token-entries', ({ next_page }) => `&page=${next_page}`, member)
    const events = await everything('/api/v1/events', ({ next_after }) => `&after=${next_after}`, member)
    const visible = new Set(listed.map(({ id }) => id))
    const ofEntries = events.filter(({ type }) => type.startsWith('entry.') && type !== 'entry.removed')
    expect(ofEntries.filter(({ object }) => !visible.has(object!.id))).toEqual([])
    const created = new Set(ofEntries.flatMap(({ type, object }) => (type === 'entry.created' ? [object!.id] : [])))
    expect(listed.filter(({ id, source }) => source !== 'sheet' && !created.has(id))).toEqual([])
    const others = events.filter(({ type }) => !/^(entry|sheet|budget)\./.test(type))
    expect(others).toEqual([])
  }

  async function history(said: Act[], unknownProjects: UnknownProjects): Promise<void> {
    round += 1
    await app.services.organization.changeSettings({ unknownProjects }, TALLY)
    const all = await entriesFrom(0)
    const first = all.at(-1)?.id ?? 0
    const projects = new Map((await workOf()).projects.map(({ key, id }) => [key, id]))
    for (const act of said) {
      const actor = members[act.who]!
      const [before, work] = [await entriesFrom(first), await workOf()]
      const answer = await carryOut(act, actor, before)
      acts += 1
      expect(answer.status).toBeLessThan(500)
      const after = new Map((await entriesFrom(first)).map((row) => [row.id, row]))
      for (const row of before) {
        const now = after.get(row.id)
        const isApproved = row.status !== 'approved' && now?.status === 'approved'
        if (isApproved) approvals += 1
        const isReopened = (row.status === 'rejected' || row.status === 'voided') && now?.status === 'submitted'
        if (isApproved || isReopened) {
          expect([act, isAllowedApproval(actor, row, projects)]).toEqual([act, true])
        }
        if (mayChange(actor, act, row, projects)) continue
        expect([act.what, now && shown(now)]).toEqual([act.what, shown(row)])
        after.delete(row.id)
      }
      const news = [...after.values()].filter(({ id }) => id > (before.at(-1)?.id ?? first))
      for (const row of news) expect(row.managerId).toBe(actor.id)
      const now = await workOf()
      expect({ ...now, projects: now.projects.slice(0, work.projects.length) }).toEqual(work)
    }
    await app.services.spending.applyChanges()
    expect(await app.services.budgets.verify()).toEqual([])
    for (const member of members) await seesEventsOfVisibleEntries(member)
    // Where a lead decided by right, what follows rightly differs.
    if (said.some(({ what }) => DECIDES.has(what))) return
    const clean = await probe(`clean${round}`)
    expect(await probe(round)).toEqual(clean)
  }

  test.each(['create', 'hold'] as const)(
    'changes nothing of anybody else (unknown projects: %s)',
    async (unknownProjects) => {
      await fc.assert(
        fc.asyncProperty(histories, (said) => history(said, unknownProjects)),
        { numRuns: Math.ceil(RUNS / 2), endOnFailure: true },
      )
    },
    600_000,
  )
})
