import { describe, expect, test } from 'bun:test'
import { type Party, TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING, viewerOf } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Role } from '../../../src/database/schema/values.ts'
import { divideFigures, divideNumber } from '../../../src/features/entries/division/shares.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import type { EntryDivision, TokenEntryReport } from '../../../src/features/entries/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, projects, prices, entries } = services
  const caller = async (name: string, role: Role) => {
    const user = `${name}@example.com`
    await people.addUser({ email: user, name, role }, TALLY)
    const { secret } = await people.createToken({ kind: 'svc', user, name: 'test' }, TALLY)
    return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  }
  const partyOf = ({ person }: CallerOf<'service'>): Party => ({
    viewer: viewerOf(person),
    person,
    by: { userId: person.id, tokenId: null, origin: 'test' },
  })
  const [ada, lead] = [await caller('ada', 'member'), await caller('lead', 'member')]
  for (const key of ['ACME', 'BETA', 'CORE']) {
    await projects.addProject(OPERATOR, { key, leads: key === 'BETA' ? [] : ['lead@example.com'] })
  }
  await prices.setPrice(
    { model: 'small', input: 1, output: 0, effective_from: 'always', only: true, force: true },
    TALLY,
  )
  const report = async (input: number, more: Partial<TokenEntryReport> = {}) => {
    const body = reportBody({
      model: 'small',
      project: 'ACME',
      started_at: '2026-11-20T10:00:00Z',
      ended_at: new Date(Date.UTC(2026, 10, 20, 11, 0, 0, input)).toISOString(),
      tokens: { input, output: 0 },
      session_id: 's',
      ...more,
    })
    return (await entries.reporting.reportEntry(body, ada)).entry
  }
  return {
    services,
    parties: { ada: partyOf(ada), lead: partyOf(lead) },
    report,
    divide: (id: string, parts: EntryDivision['parts'], party: Party = OPERATOR) =>
      entries.division.divide(id, { parts }, party),
    undivide: (id: string, party: Party = OPERATOR) => entries.division.undivide(id, party),
    decide: (id: string, action: 'approve' | 'void' | 'restore' | 'reject') =>
      entries.approval.decideEntry(
        id,
        { action, ...(action !== 'approve' && action !== 'restore' && { reason: 'x' }) },
        OPERATOR,
      ),
    /** Project, tokens, list value in dollars and status of each entry. */
    async listed() {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ order: 'asc' }, 'UTC'))
      return data
        .filter(({ status }) => status !== 'voided')
        .map(
          ({ project, tokens, cost, status }) =>
            `${project?.key ?? '-'} ${tokens.input} $${JSON.stringify(cost)} ${status}`,
        )
        .sort()
    },
  }
}

const codeOf = (changing: Promise<unknown>) => changing.then(() => 'done').catch(({ code }) => code)
const HALVES = [{ share: 50 }, { project: 'BETA', share: 50 }]

describe('dividing numbers', () => {
  test('sums exactly, never shrinks a part as the number grows, and keeps what is contained contained', () => {
    for (let round = 0; round < 300; round += 1) {
      const weights = Array.from({ length: 2 + (round % 6) }, () => BigInt(1 + Math.floor(Math.random() * 1_000)))
      let before = weights.map(() => 0n)
      for (let whole = 0n; whole < 60n; whole += 1n) {
        const shares = divideNumber(whole, weights)
        expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(whole)
        expect(shares.every((share, part) => share >= before[part]!)).toBe(true)
        before = shares
      }
    }
    expect(divideNumber(125_000_000_000n, [40_000_000_000n, 85_000_000_000n])).toEqual([
      40_000_000_000n,
      85_000_000_000n,
    ])
  })

  test('divides details and leaves the unknown unknown', () => {
    const counts = { input: 10, output: 3, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 1 }
    const details = {
      requestsAbove: [{ threshold: 200_000, counts }],
      serviceTier: 'batch',
      speed: null,
      region: null,
      tools: { web_search: 3 },
      media: { inputAudio: 5 },
    }
    const whole = { counts, details, requests: null, reportedCostNanos: 7n, activeMs: null, listValue: null }
    const [one, other] = divideFigures(whole, [2n, 1n])
    expect(one!.details).toMatchObject({ serviceTier: 'batch', tools: { web_search: 2 }, media: { inputAudio: 4 } })
    expect(other!.details).toMatchObject({ tools: { web_search: 1 }, media: { inputAudio: 1 } })
    expect(one!.details!.requestsAbove![0]!.counts).toEqual(one!.counts)
    expect([one!.reportedCostNanos, other!.reportedCostNanos, other!.requests, other!.listValue]).toEqual([
      5n,
      2n,
      null,
      null,
    ])
  })
})

forEachEngine('divided entries', (open) => {
  test('sum to what was reported, also as the session goes on', async () => {
    const { report, divide, listed, services } = await stage(await open())
    const { id } = await report(1_000_001)
    const { parts } = await divide(id, [{ share: 70 }, { project: 'BETA', share: 30 }])
    expect(parts.map(({ division }) => division)).toEqual([
      { entry: id, share: 0.7 },
      { entry: id, share: 0.3 },
    ])
    expect(await listed()).toEqual(['ACME 700001 $0.7000007 submitted', 'BETA 300000 $0.3000003 submitted'])

    const answer = await report(2_000_000)
    expect([answer.id, answer.tokens.input, answer.corrected]).toEqual([id, 1_400_000, []])
    expect(await listed()).toEqual(['ACME 1400000 $1.4 submitted', 'BETA 600000 $0.6 submitted'])
    expect((await report(1_500_000)).tokens.input).toBe(1_400_000)
    expect(await services.entries.verify()).toEqual([])
  })

  test('stay divided once a part is locked: what is used later becomes further parts', async () => {
    const { report, divide, decide, listed } = await stage(await open())
    const { id } = await report(1_000)
    const { parts } = await divide(id, HALVES)
    await decide(parts[1]!.id, 'approve')
    const further = await report(1_600)
    expect(further).toMatchObject({ continues: id, part: 2, division: { entry: further.id, share: 0.5 } })
    expect(await listed()).toEqual([
      'ACME 300 $0.0003 submitted',
      'ACME 500 $0.0005 submitted',
      'BETA 300 $0.0003 submitted',
      'BETA 500 $0.0005 approved',
    ])
    await report(1_800)
    expect((await listed()).filter((text) => text.includes('400'))).toHaveLength(2)
    expect((await report(1_800)).id).toBe(further.id)
  })

  test('are divided by amount, to the nano-dollar, with one part that has the rest', async () => {
    const { report, divide, listed } = await stage(await open())
    const { id } = await report(1_000, { reported_cost: 125.000000001 })
    expect(await codeOf(divide(id, [{ amount: 125 }, { project: 'BETA', amount: 1 }]))).toBe('validation_failed')
    expect(await codeOf(divide(id, [{ amount: 126 }, { project: 'BETA' }]))).toBe('validation_failed')
    expect(await codeOf(divide(id, [{ amount: 1 }, { share: 1, project: 'BETA' }]))).toBe('validation_failed')
    await divide(id, [{}, { project: 'BETA', amount: 40 }, { project: 'CORE', amount: 0.000000001 }])
    expect(await listed()).toEqual([
      'ACME 680 $85 submitted',
      'BETA 320 $40 submitted',
      'CORE 0 $0.000000001 submitted',
    ])
  })

  test('are undone while nothing is locked, and the other parts stay void', async () => {
    const { report, divide, undivide, decide, listed } = await stage(await open())
    const { id } = await report(1_000)
    const { parts } = await divide(id, HALVES)
    await decide(parts[1]!.id, 'reject')
    expect(await codeOf(undivide(id))).toBe('wrong_status')
    await decide(parts[1]!.id, 'void')
    expect(await codeOf(undivide(id))).toBe('entry_locked')
    await decide(parts[1]!.id, 'restore')
    expect(await codeOf(divide(id, HALVES))).toBe('entry_divided')
    const whole = await undivide(parts[1]!.id)
    expect([whole.id, whole.tokens.input, whole.division]).toEqual([id, 1_000, null])
    expect(await codeOf(decide(parts[1]!.id, 'restore'))).toBe('wrong_status')
    await report(1_200)
    expect(await listed()).toEqual(['ACME 1200 $0.0012 submitted'])
    expect(await codeOf(divide(id, HALVES))).toBe('done')
  })

  test('are divided by whoever may place them, and keep what others cannot see', async () => {
    const { report, divide, undivide, parties, services } = await stage(await open())
    const { id } = await report(1_000)
    const { hidden_parts, parts } = await divide(id, HALVES, parties.lead)
    expect([parts.length, hidden_parts]).toEqual([1, 1])
    expect(await codeOf(undivide(id, parties.lead))).toBe('forbidden')
    expect(await codeOf(services.entries.division.getDivision(id, { ...parties.lead.viewer }))).toBe('done')
    expect(await codeOf(undivide(id, parties.ada))).toBe('done')
    const other = await report(10, { session_id: 'x', project: 'BETA' })
    expect(await codeOf(divide(other.id, HALVES, parties.lead))).toBe('not_found')
  })

  test('are valued again as a whole', async () => {
    const { report, divide, services, listed } = await stage(await open())
    const { id } = await report(1_001)
    await divide(id, [{ share: 2 }, { project: 'BETA', share: 1 }])
    await services.prices.setPrice(
      { model: 'small', input: 10, output: 0, effective_from: 'always', only: true, force: true },
      TALLY,
    )
    const repriced = await services.entries.valuation.reprice({ filter: {} })
    expect([repriced.entries, repriced.costNanos.after]).toEqual([1, 10_010_000n])
    expect(await listed()).toEqual(['ACME 668 $0.006673334 submitted', 'BETA 333 $0.003336666 submitted'])
    await report(1_002)
    expect(await listed()).toEqual(['ACME 668 $0.00668 submitted', 'BETA 334 $0.00334 submitted'])
  })
})
