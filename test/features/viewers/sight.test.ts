/**
 * What viewers with random grants get from every operation that reads: nothing of what was not granted. Each entry uses
 * a power of two of tokens and costs a power of four, so that every sum says of which entries it is.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Database } from '../../../src/database/database.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const CLIENTS = 3
const PROJECTS = 2
const NOVEMBER = 'starting_at=2026-11-01&ending_at=2026-12-01'
const DIMENSIONS = ['client', 'project', 'ticket', 'model', 'agent_manager'] as const

interface Work {
  client: number
  key: string
  name: string
  person: string
  ticket: string
  model: string
  tokens: number
  cost: number
}

/** All of it is named after what it is of, by words that appear in nothing else. */
const WORK: Work[] = Array.from({ length: CLIENTS * PROJECTS }, (_, at) => ({
  client: at % CLIENTS,
  key: `key${at}zq`,
  name: `Name${at}zq`,
  person: `Person${at}zq`,
  ticket: `ticket${at}zq`,
  model: `model${at}zq`,
  tokens: 2 ** at,
  cost: 4 ** at,
}))
const clientName = (client: number) => `Client${client}zq`

interface Given {
  money: 'amounts' | 'cost' | 'none'
  people: boolean
  bills: boolean
}

const given = fc.option(
  fc.record<Given>({
    money: fc.constantFrom('amounts', 'cost', 'none'),
    people: fc.boolean(),
    bills: fc.boolean(),
  }),
  { nil: null, freq: 2 },
)
const grants = fc.record({
  clients: fc.array(given, { minLength: CLIENTS, maxLength: CLIENTS }),
  projects: fc.array(given, { minLength: WORK.length, maxLength: WORK.length }),
})
type Grants = typeof grants extends fc.Arbitrary<infer Each> ? Each : never

const extentOf = ({ clients, projects }: Grants, at: number) => projects[at] ?? clients[WORK[at]!.client] ?? null
const amountIn = ({ amounts }: { amounts: { amount: number }[] }) =>
  amounts.reduce((sum, { amount }) => sum + amount, 0)

const showsBills = (grant: Given | null) => grant !== null && grant.money === 'amounts' && grant.bills

/** Every name that the grants do not allow anywhere. */
function forbiddenNames(granted: Grants): string[] {
  const isBilled = (client: number) => showsBills(granted.clients[client]!)
  return [
    ...WORK.flatMap(({ key, name, ticket, model, person, client }, at) => {
      const extent = extentOf(granted, at)
      return [
        // A bill names the work of its client, as it was sent.
        ...(extent || isBilled(client) ? [] : [key, name, ticket]),
        ...(extent ? [] : [model]),
        ...(extent?.people ? [] : [person]),
      ]
    }),
    ...granted.clients.flatMap((grant, client) => (grant === null ? [clientName(client)] : [])),
  ]
}

forEachEngine('what a viewer sees', (open) => {
  let db: Database
  let app: TestApp
  let admin: string
  let viewer: string
  const email = 'person-viewer@example.com'
  const bills: { id: string; number: string }[] = []
  const ids: string[] = []

  beforeAll(async () => {
    db = await open({ serving: true })
    app = await startApp({ db })
    admin = await app.session('admin')
    for (let client = 0; client < CLIENTS; client += 1) await post('clients', { name: clientName(client) })
    for (const { key, name, client, person, ticket, model, tokens, cost } of WORK) {
      const project = await post('projects', { key, name, client: clientName(client) })
      const { user } = await post('users', { email: `${person}@example.com`, name: person, role: 'member' })
      ids.push(project.id, user.id)
      const sent = await app.call('POST /api/v1/token-entries', {
        token: await app.token('svc', user.id),
        json: {
          ...reportBody({ project: key, ticket, model, reported_cost: cost }),
          tokens: { input: tokens, output: 0 },
          started_at: '2026-11-20T10:00:00Z',
          ended_at: '2026-11-20T10:20:00Z',
        },
      })
      expect(sent.status).toBe(201)
      ids.push(sent.json.id)
    }
    for (let client = 0; client < CLIENTS; client += 1) {
      bills.push(await post('bills', { client: clientName(client), month: '2026-11', currency: 'USD', deliver_to: [] }))
    }
    await post('users', { email, name: 'Viewer', role: 'viewer' })
    await app.services.people.setPassword(email, 'correct horse battery', { userId: null, tokenId: null, origin: '' })
    const signedIn = await app.services.people.signIn({ email, password: 'correct horse battery', address: '::1' })
    viewer = `tally_session=${signedIn.secret}`
  }, 300_000)
  afterAll(() => app.close())

  const post = async (path: string, json: object) => {
    const answer = await app.call(`POST /api/v1/${path}`, { session: admin, json })
    expect([path, answer.status < 300, answer.status < 300 || answer.text]).toEqual([path, true, true])
    return answer.json
  }
  const read = (path: string, headers = {}) => app.call(`GET ${path}`, { session: viewer, headers })

  async function give({ clients, projects }: Grants): Promise<void> {
    const { data } = (await app.call(`GET /api/v1/users/${email}/grants`, { session: admin })).json
    for (const { client, project } of data) {
      await app.call(`DELETE /api/v1/users/${email}/grants/${(client ?? project).id}`, { session: admin })
    }
    for (const [client, grant] of clients.entries()) {
      if (grant === null) continue
      await post(`users/${email}/grants`, { client: clientName(client), ...grant, bills: showsBills(grant) })
    }
    for (const [at, grant] of projects.entries()) {
      if (grant === null) continue
      await post(`users/${email}/grants`, { project: WORK[at]!.key, money: grant.money, people: grant.people })
    }
  }

  /** The addresses of every operation that reads, with the ids and names of things that may not be the viewer's. */
  function addresses(): string[] {
    const objects = [...ids, ...bills.flatMap(({ id, number }) => [id, number]), WORK[0]!.key, clientName(1)]
    const queries = [
      `?${NOVEMBER}`,
      ...DIMENSIONS.map((dimension) => `?${NOVEMBER}&group_by=${dimension}&bucket_width=1mo`),
      `?${NOVEMBER}&group_by=project,agent_manager`,
      ...WORK.map(({ key }) => `?${NOVEMBER}&project=${key}`),
      `?${NOVEMBER}&client=${clientName(0)}`,
    ]
    return Object.entries(app.document.paths).flatMap(([path, methods]) => {
      if (!('get' in methods) || !path.startsWith('/api/v1/') || path.endsWith('/export')) return []
      if (path.includes('{')) return objects.map((object) => path.replaceAll(/\{\w+\}/g, object))
      return path.endsWith('/usage') ? queries.map((query) => path + query) : [path, `${path}?format=csv`]
    })
  }

  test('is named in the grants, whatever they are, in every response', async () => {
    await fc.assert(
      fc.asyncProperty(grants, async (granted) => {
        await give(granted)
        const forbidden = forbiddenNames(granted)
        for (const address of addresses()) {
          for (const headers of address.includes('/shared/usage') ? [{}, { accept: 'text/csv' }] : [{}]) {
            const { status, text } = await read(address, headers)
            // What was asked for may be said again.
            const asked = decodeURIComponent(address)
            const told = forbidden.filter(
              (name) => !asked.includes(name) && text.toLowerCase().includes(name.toLowerCase()),
            )
            expect([address, status < 500, told]).toEqual([address, true, []])
          }
        }
      }),
      { numRuns: runs(8, 2) },
    )
  }, 300_000)

  test('has exactly the sums that the grants allow', async () => {
    await fc.assert(
      fc.asyncProperty(grants, async (granted) => {
        await give(granted)
        const seen = WORK.map((work, at) => ({ ...work, extent: extentOf(granted, at) })).filter(
          ({ extent }) => extent !== null,
        )
        const sumOf = (of: (work: (typeof seen)[number]) => number) => seen.reduce((sum, work) => sum + of(work), 0)
        const cost = sumOf(({ cost, extent }) => (extent!.money === 'cost' ? cost : 0))
        const amount = sumOf(({ cost, extent }) => (extent!.money === 'amounts' ? cost : 0))
        for (const dimension of DIMENSIONS) {
          const { status, json } = await read(`/api/v1/shared/usage?${NOVEMBER}&group_by=${dimension}&bucket_width=all`)
          const isRefused = dimension === 'agent_manager' && !seen.some(({ extent }) => extent!.people)
          expect([dimension, status]).toEqual([dimension, isRefused ? 422 : 200])
          if (isRefused) continue
          const { totals, data } = json
          const billed = dimension === 'model' ? 0 : amount
          expect([totals.tokens.total, totals.cost ?? 0, amountIn(totals)]).toEqual([
            sumOf(({ tokens }) => tokens),
            cost,
            billed,
          ])
          const rows = (data[0]?.results ?? []) as (typeof totals)[]
          const together = (of: (row: typeof totals) => number) => rows.reduce((sum, row) => sum + of(row), 0)
          expect(together(({ tokens }) => tokens.total)).toBe(totals.tokens.total)
          expect(together((row) => row.cost ?? 0)).toBe(cost)
          expect(together(amountIn)).toBe(billed)
        }
        const { data } = (await read('/api/v1/shared/bills')).json
        const shown = bills.filter((_, client) => showsBills(granted.clients[client]!)).map(({ number }) => number)
        expect(data.map(({ number }: { number: string }) => number).toSorted()).toEqual(shown.toSorted())
        for (const { id, number } of bills) {
          for (const rest of ['', '/html', '/pdf']) {
            expect((await read(`/api/v1/shared/bills/${id}${rest}`)).status).toBe(shown.includes(number) ? 200 : 404)
          }
        }
      }),
      { numRuns: runs(8, 2) },
    )
  }, 300_000)
})
