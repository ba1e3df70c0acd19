/** What a branch or a ticket has cost: every figure of a receipt is the total of the list that it names. */
import { expect, test } from 'bun:test'
import { parseRawJson } from '../../../src/lib/exact-json.ts'
import { NANO_DIGITS, parseDecimal } from '../../../src/lib/money.ts'
import { startApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const BRANCH = { repository: 'acme/web', branch: 'feature/ACME-42' }

forEachEngine('receipts', (open) => {
  async function start() {
    const db = await open({ serving: true })
    const app = await startApp({ db, clock: { now: () => NOW } })
    const admin = await app.session('admin')
    const ada = await app.person('member')
    const [token, read] = [await app.token('svc', ada), await app.token('read', ada)]
    let sessions = 0
    const report = async (more: Record<string, unknown>, by = token) => {
      sessions += 1
      const json = reportBody({ session_id: `session-${sessions}`, labels: BRANCH, model: 'house', ...more })
      const sent = await app.call('POST /api/v1/token-entries', { token: by, json })
      expect([sent.status, sent.json?.errors]).toEqual([201, undefined])
      return sent.json.id as string
    }
    const change = async (operation: string, json: object) => {
      const answer = await app.call(operation.replace(' ', ' /api/v1'), { session: admin, json })
      expect([answer.status < 300, answer.json?.detail]).toEqual([true, undefined])
      return answer.json
    }
    const ask = (parameters: Record<string, string>, caller: object = { session: admin }) =>
      app.call(`GET /api/v1/reports/receipt?${new URLSearchParams(parameters)}`, caller)
    /** The entries of a list, and their known cost. */
    const sumOf = async (list: string, caller: object = { session: admin }) => {
      const { status, text } = await app.call(`GET ${list}&limit=500`, caller)
      expect(status).toBe(200)
      const { data } = parseRawJson(text) as { data: { cost: number | null }[] }
      const known = data.flatMap(({ cost }) => (cost === null ? [] : [nanosOf(cost)]))
      return { entries: data.length, cost: known.length === 0 ? null : known.reduce((sum, nanos) => sum + nanos) }
    }
    return { app, admin, ada, token, read, report, change, ask, sumOf }
  }

  /** Two models, an unpriced entry, a rejected one, one without a place, and others that do not belong to it. */
  async function reportBranch({ report, change, app }: Awaited<ReturnType<typeof start>>) {
    await report({ project: 'ACME', reported_cost: 0.123456789, active_seconds: 600 })
    await report({
      ticket: 'ACME-42',
      project: 'ACME',
      model: 'other',
      reported_cost: 5,
      started_at: '2026-11-18T08:00:00Z',
    })
    await report({ project: 'ACME', model: 'unpriced' })
    await report({ project: 'SIDE', reported_cost: 1 })
    await report({ reported_cost: 0.1 })
    const rejected = await report({ project: 'ACME', reported_cost: 7 })
    await change('POST /token-entries/actions', { action: 'reject', ids: [rejected], reason: 'wrong' })
    await report({ project: 'ACME', reported_cost: 100, labels: { ...BRANCH, branch: 'main' } })
    await report({ project: 'ACME', reported_cost: 100, labels: { ...BRANCH, repository: 'acme/api' } })
    await report({ project: 'ACME', reported_cost: 100, labels: { repository: 'acme/web' } })
    await report({ project: 'ACME', reported_cost: 2 }, await app.token('svc', await app.person('member')))
  }

  test('every figure is the total of the list that the receipt names', async () => {
    const stage = await start()
    await reportBranch(stage)
    const { ask, sumOf, read } = stage
    for (const caller of [{ session: stage.admin }, { token: read }]) {
      for (const more of [{}, { starting_at: '2026-11-19' }, { ending_at: '2026-11-19' }, { basis: 'list' }] as const) {
        const { status, text } = await ask({ ...BRANCH, ...more, people: 'true' }, caller)
        expect(status).toBe(200)
        const receipt = parseRawJson(text) as Receipt
        const { totals, models, people, list, basis } = receipt
        const unattributed = receipt.unattributed!
        expect(basis).toBe('basis' in more ? 'list' : 'cost')
        const listed = await sumOf(list, caller)
        // Lists say what was paid; by another basis, the filter of what has no amount says how many there are.
        expect(totals.entries).toBe(listed.entries)
        if (basis === 'cost') expect(nanosOrNull(totals.cost)).toBe(listed.cost)
        for (const parts of [models, people!]) {
          expect(parts.reduce((sum, { entries }) => sum + entries, 0)).toBe(totals.entries)
          const known = parts.flatMap(({ cost }) => (cost === null ? [] : [nanosOf(cost)]))
          expect(known.reduce((sum, nanos) => sum + nanos, 0n)).toBe(nanosOrNull(totals.cost) ?? 0n)
        }
        const missing = await sumOf(unattributed.list, caller)
        expect([unattributed.entries, basis === 'cost' ? nanosOrNull(unattributed.cost) : null]).toEqual([
          missing.entries,
          basis === 'cost' ? missing.cost : null,
        ])
      }
    }
    const { json: all } = await ask(BRANCH)
    expect([all.totals.entries, all.totals.unpriced_entries, all.totals.sessions, all.totals.cost]).toEqual([
      ...[7, 1, 7, 15.223456789],
    ])
    expect([all.totals.active_seconds, all.totals.untimed_entries, all.totals.rejected_cost]).toEqual([600, 6, 7])
    expect([all.unattributed.entries, all.unattributed.cost, all.people, all.starting_at]).toEqual([1, 0.1, null, null])
    expect(all.page).toBe('/entries?label=repository%3Aacme%2Fweb&label=branch%3Afeature%2FACME-42')
    const { json: own } = await ask({ ...BRANCH, starting_at: '2026-11-19' }, { token: read })
    expect([own.totals.entries, own.totals.cost, own.starting_at]).toEqual([5, 8.223456789, '2026-11-19T00:00:00.000Z'])
    const { json: ticket } = await ask({ ticket: 'ACME-42' })
    expect([ticket.ticket, ticket.repository, ticket.totals.cost]).toEqual(['ACME-42', null, 5])
    const { json: none } = await ask({ ...BRANCH, branch: 'never' })
    expect([none.totals.entries, none.totals.cost, none.totals.sessions, none.models]).toEqual([0, null, 0, []])
  })

  test('the budgets are those that entries of the branch count for, as the caller sees them', async () => {
    const stage = await start()
    const { ask, change, app, read } = stage
    await reportBranch(stage)
    const budget = (name: string, amount: number, scope: object) =>
      change('POST /budgets', { name, amount, scope, period: 'month', measure: 'cost' })
    await budget('Project', 5, { project: 'ACME' })
    await budget('Side', 100, { project: 'SIDE' })
    await budget('Branch', 1000, { label: `branch:${BRANCH.branch}` })
    await budget('Repository', 1000, { label: 'repository:acme/web', project: 'ACME' })
    await budget('Everything', 10_000, {})
    await budget('Ticket', 50, { ticket: 'ACME-42' })
    await budget('Elsewhere', 1, { label: 'branch:main' })
    await app.services.budgets.count()
    const seen = async (parameters: Record<string, string>, caller?: object) =>
      (await ask(parameters, caller)).json.budgets.budgets.map(
        ({ name, state }: { name: string | null; state: string }) => [name, state],
      )
    expect((await seen(BRANCH)).sort()).toEqual([
      ...[
        ['Branch', 'within'],
        ['Everything', 'within'],
        ['Project', 'exceeded'],
      ],
      ...[
        ['Repository', 'within'],
        ['Side', 'within'],
      ],
    ])
    expect((await seen({ ticket: 'ACME-42' })).map(([name]: [string]) => name)).toContain('Ticket')
    // Ada neither leads the projects nor sees everyone's entries: of their budgets she learns the state.
    const hers = await seen(BRANCH, { token: read })
    expect([hers.length, hers.filter(([name]: [string | null]) => name === null).length]).toEqual([5, 5])
    await change('PATCH /settings', { api_tokens: true })
    const session = await app.session('admin')
    const { json: me } = await app.call('GET /api/v1/me', { session })
    const reading = await app.token('api', me.person.email, { scopes: ['entries:read'] })
    expect((await ask(BRANCH, { token: reading })).json.budgets).toBeNull()
  })

  test('names are values of labels, whatever they contain', async () => {
    const { report, ask, sumOf } = await start()
    const odd = { repository: 'acme/web', branch: 'a,b&label=c#"<script>`|@team' }
    await report({ labels: odd, reported_cost: 3, project: 'ACME' })
    await report({ labels: BRANCH, reported_cost: 5, project: 'ACME' })
    const { json } = await ask(odd)
    expect([json.totals.cost, (await sumOf(json.list)).cost, json.branch]).toEqual([3, 3_000_000_000n, odd.branch])
  })

  test('a receipt is of a branch of a repository, or of a ticket', async () => {
    const { ask, read } = await start()
    const issueOf = async (parameters: Record<string, string>) => {
      const { status, json } = await ask(parameters, { token: read })
      return [status, json.errors?.[0]?.pointer ?? json.code]
    }
    expect(await issueOf({})).toEqual([422, '/query/repository'])
    expect(await issueOf({ branch: 'main' })).toEqual([422, '/query/repository'])
    expect(await issueOf({ repository: 'acme/web' })).toEqual([422, '/query/branch'])
    expect(await issueOf({ repository: 'acme/web', ticket: 'ACME-42' })).toEqual([422, '/query/branch'])
    expect(await issueOf({ ticket: 'ACME-42' })).toEqual([422, '/query/ticket'])
    expect(await issueOf({ ...BRANCH, branch: 'x'.repeat(257) })).toEqual([422, '/query/branch'])
    expect(await issueOf({ ...BRANCH, people: 'yes' })).toEqual([422, '/query/people'])
    expect(await issueOf({ ...BRANCH, starting_at: '2026-11-20', ending_at: '2026-11-19' })).toEqual([
      ...[422, '/query/ending_at'],
    ])
    expect(await issueOf({ ...BRANCH, basis: 'allocated' })).toEqual([403, 'fees_hidden'])
  })
})

type Receipt = import('../../../src/features/receipts/schema.ts').Receipt

const nanosOf = (amount: number): bigint => parseDecimal(JSON.stringify(amount), NANO_DIGITS)!
const nanosOrNull = (amount: number | null): bigint | null => (amount === null ? null : nanosOf(amount))
