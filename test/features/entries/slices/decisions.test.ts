/**
 * What people decide about the entries of a sliced session, and what its reports do afterwards: random histories of
 * reports by every way in, with decisions, corrections and bills in the middle.
 *
 * TALLY_TEST_DECISION_RUNS says how many there are per engine.
 */
import { expect, test } from 'bun:test'
import { asc, gt, inArray, max } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../../src/access/actor.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { SessionSource } from '../../../../src/database/schema/values.ts'
import { Problem } from '../../../../src/errors.ts'
import type { Decision } from '../../../../src/features/entries/approval/states.ts'
import { isDivided, isShare, wholeOf } from '../../../../src/features/entries/division/divided.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import { ignoresReports, isFixed, isLocked, reportedPart } from '../../../../src/features/entries/rows.ts'
import type { EntryCorrection, SliceReport, TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import type { EntryRecord } from '../../../../src/features/entries/store.ts'
import { readRepricing } from '../../../../src/features/entries/valuation/repricing.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { addReporter, OPERATOR } from '../../../support/reports.ts'
import { runs } from '../../../support/tier.ts'

const RUNS = Number(process.env.TALLY_TEST_DECISION_RUNS ?? runs(100))
const ACTS = 16
const NOW = Date.UTC(2026, 11, 2, 9)
const START = Date.UTC(2026, 9, 30, 12)
const HOUR = 3_600_000
const REASON = 'The wrong client'
const PROJECTS = ['ONE', 'TWO'] as const
const BRANCHES = ['A-1', 'A-2', 'B-1', ''] as const

/** Ways in: by whom, and whether with slices. */
const WAYS = ['sliced', 'sliced', 'sliced', 'batch', 'plain', 'log', 'span', 'metric'] as const
const DECISIONS = ['approve', 'approve', 'withdraw_approval', 'reject', 'reopen', 'void', 'restore'] as const
const CHANGES = ['report', 'report', 'report', 'report', 'decide', 'decide', 'place', 'divide', 'correct'] as const
const OTHERS = ['bill', 'bill', 'credit', 'void_bill', 'move', 'lose', 'repeat'] as const

const anAct = fc.record({
  what: fc.constantFrom(...CHANGES, ...CHANGES, ...OTHERS),
  way: fc.constantFrom(...WAYS),
  decision: fc.constantFrom<Decision>(...DECISIONS),
  ignores: fc.boolean(),
  target: fc.nat(),
  branch: fc.constantFrom(...BRANCHES),
  project: fc.constantFrom(...PROJECTS),
  hours: fc.constantFrom(1, 5, 24, 70),
  input: fc.constantFrom(1, 7, 1_000, 250_000),
  searches: fc.constantFrom(0, 0, 2),
})
type Act = typeof anAct extends fc.Arbitrary<infer Value> ? Value : never

const histories = fc.record({
  acts: fc.array(anAct, { minLength: ACTS, maxLength: ACTS }),
  ways: fc.constantFrom<readonly (typeof WAYS)[number][]>(WAYS, WAYS, ['sliced', 'batch'], ['sliced', 'plain']),
  isPriced: fc.boolean(),
})

/** What an agent has called. */
interface Call {
  at: number
  branch: string
  input: number
  searches: number
}

const OUTPUT = 3

/** A report, and what it says in total. */
interface Said {
  source: SessionSource
  isBatch: boolean
  body: TokenEntryReport
  totals: Record<'input' | 'output' | 'searches' | 'micros', number>
}

forEachEngine('whatever people decide about a sliced session', (open) => {
  async function stage(db: Database) {
    const services = createServices({ db, clock: { now: () => NOW } })
    const { people, projects, placement, prices, entries, bills } = services
    const caller = await addReporter(people)
    await prices.setPrice(
      { model: 'opus', input: 3, output: 15, effective_from: 'always', only: true, force: true } as never,
      TALLY,
    )
    for (const key of PROJECTS) await projects.addProject(OPERATOR, { key, name: key })
    for (const [prefix, project] of [
      ['A', 'ONE'],
      ['B', 'TWO'],
    ]) {
      await placement.addRule(TALLY, {
        name: prefix,
        conditions: [{ field: 'labels.branch', matches: `${prefix}-*` }],
        project,
      } as never)
    }
    const { entries: table, entryHistory, sessionSources } = db.read.tables
    return {
      services,
      /** The last of the entries so far. */
      async lastId() {
        const [last] = await db.read.select({ id: max(table.id) }).from(table)
        return last!.id ?? 0
      },
      /** Later entries, in the order in which they were created. */
      rowsAfter: (id: number): Promise<EntryRecord[]> =>
        db.read.select().from(table).where(gt(table.id, id)).orderBy(asc(table.id)) as never,
      /** What a report may change besides them. */
      async besidesAfter(id: number) {
        const [changes] = await db.read.select({ id: max(entryHistory.id) }).from(entryHistory)
        const own = db.read.select({ id: table.sessionId }).from(table).where(gt(table.id, id))
        const sources = await db.read.select().from(sessionSources).where(inArray(sessionSources.sessionId, own))
        return [changes, sources]
      },
      async report({ source, isBatch, body }: Said): Promise<string> {
        if (!isBatch) return (await entries.reporting.recordFrom(source, readReport(body, NOW), caller)).outcome
        const [item] = await entries.reporting.reportEntries([body], caller)
        if (item!.outcome === 'rejected') throw item!.error
        return item!.outcome
      },
      /** As telemetry does that cannot say any more what each day has. */
      withdraw: (body: TokenEntryReport) =>
        entries.reporting.recordFrom('log', { ...readReport(body, NOW), cells: null }, caller),
      decide: (id: string, action: Decision, ignores: boolean) =>
        entries.approval.decideEntry(
          id,
          {
            action,
            ...((action === 'void' || action === 'reject') && { reason: REASON }),
            ...(action === 'void' && ignores && { laterReports: 'ignore' as const }),
          },
          OPERATOR,
        ),
      place: (id: string, project: string) => entries.places.changeEntry(id, { project }, OPERATOR),
      divide: (id: string) =>
        entries.division.divide(
          id,
          {
            parts: [
              { project: 'ONE', share: 2 },
              { project: 'TWO', share: 1 },
            ],
          },
          OPERATOR,
        ),
      correct: (id: string, input: number) =>
        entries.places.changeEntry(id, { tokens: { input, output: 1 }, reason: REASON }, OPERATOR),
      bill: (month: string, project: string) =>
        bills
          .send({ month, project, include_earlier: false }, { by: TALLY })
          .then(({ bill }) => bill.bill.number)
          .catch(refusal),
      async credit(number: string) {
        await bills.payBill(number, {}, { by: TALLY })
        await bills.creditBill(number, { release: true }, TALLY)
      },
      voidBill: (number: string) => bills.voidBill(number, { reason: REASON }, TALLY),
    }
  }

  test('nothing is lost, doubled or changed that is fixed', async () => {
    const { services, ...does } = await stage(await open())
    let round = 0
    const counted = { reports: 0, refused: 0, decisions: 0, bills: 0 }

    async function play({ acts, ways, isPriced }: typeof histories extends fc.Arbitrary<infer Of> ? Of : never) {
      round += 1
      const before = await does.lastId()
      const rows = () => does.rowsAfter(before)
      const calls: Call[] = []
      const bills: string[] = []
      let last: Said | undefined
      const latest = new Map<SessionSource, Said>()

      /** Reports, and checks what the report has changed. */
      async function report(said: Said, isRepeated: boolean): Promise<void> {
        const [known, besides] = [await rows(), await does.besidesAfter(before)]
        const outcome = await does.report(said).catch((error) => {
          if (error instanceof Problem && error.code === 'session_shrunk') return 'refused'
          throw error
        })
        const after = await rows()
        counted.reports += 1
        if (outcome === 'refused') counted.refused += 1
        if (outcome === 'refused' || isRepeated) {
          expect(text([after, await does.besidesAfter(before)])).toBe(text([known, besides]))
          if (isRepeated) expect(outcome).toBe('repeated')
          return
        }
        requireFixed(known, after)
        requireBound(known, after)
        last = said
        latest.set(said.source, said)
        requireSums(after, latest)
        await report(said, true)
      }

      async function decide(target: EntryRecord, change: () => Promise<unknown>): Promise<void> {
        const known = await rows()
        const done = await change().then(
          () => true,
          (error) => {
            if (error instanceof Problem) return false
            throw error
          },
        )
        if (!done) return
        counted.decisions += 1
        const { id } = target
        const isOwn = (row: EntryRecord) => row.id === id || row.dividedFromId === id || row.id === target.dividedFromId
        const others = new Map(known.filter((row) => !isOwn(row)).map((row) => [row.id, text(row)]))
        for (const row of (await rows()).filter((row) => !isOwn(row))) expect(text(row)).toBe(others.get(row.id)!)
      }

      for (const [step, act] of acts.entries()) {
        const known = await rows()
        const target = known[act.target % Math.max(1, known.length)]
        if (act.what === 'report') {
          const way = ways[act.target % ways.length]!
          calls.push({ at: nextMoment(calls, act), branch: act.branch, input: act.input, searches: act.searches })
          await report(statementOf(calls, { way, session: `s-${round}`, isPriced, isLess: step % 5 === 4 }), false)
        } else if (act.what === 'move') {
          const moved = calls[act.target % Math.max(1, calls.length)]
          if (moved && moved !== calls.at(-1)) moved.branch = act.branch
        } else if (act.what === 'lose') {
          // A transcript without its first calls, whose total may be less than what is fixed.
          if (calls.length > 1) calls.splice(0, 1)
        } else if (act.what === 'repeat') {
          // What was fixed or ignored until then may be open again.
          if (last) await report(last, false)
        } else if (act.what === 'bill') {
          const numbers = [await does.bill('2026-10', act.project), await does.bill('2026-11', act.project)]
          bills.push(...numbers.filter((number) => number !== undefined))
          counted.bills += numbers.filter((number) => number !== undefined).length
        } else if (act.what === 'credit' || act.what === 'void_bill') {
          const number = bills.splice(act.target % Math.max(1, bills.length), 1)[0]
          // A bill of less than a cent has nothing to credit.
          if (number) await (act.what === 'credit' ? does.credit(number).catch(refusal) : does.voidBill(number))
        } else if (target) {
          const { uid } = target
          if (act.what === 'decide') await decide(target, () => does.decide(uid, act.decision, act.ignores))
          if (act.what === 'place') await decide(target, () => does.place(uid, act.project))
          if (act.what === 'divide') await decide(target, () => does.divide(uid))
          if (act.what === 'correct') await decide(target, () => does.correct(uid, act.input))
        }
      }
      // The next history has its own bills.
      for (const month of ['2026-10', '2026-11', '2026-12']) {
        for (const project of PROJECTS) await does.bill(month, project)
      }
    }

    await fc.assert(fc.asyncProperty(histories, play), { numRuns: RUNS })
    expect(await services.entries.verify()).toEqual([])
    expect(await services.bills.verify()).toEqual([])
    console.log(JSON.stringify({ histories: round, ...counted }))
  }, 3_600_000)

  test('a placement binds later parts of its slice, and days after it at its place: the nearest earlier one', async () => {
    const { report, place, decide, shown } = await directed()
    const [first, second] = await report([day('10-30', 'A-1', 10), day('10-31', 'A-1', 10)])
    await place(first!, 'TWO')
    await place(second!, 'ONE')
    await decide(first!, 'approve', false)
    await report([
      ...[day('10-29', 'A-1', 1), day('10-30', 'A-1', 15), day('10-31', 'A-1', 10), day('11-01', 'A-1', 2)],
      ...[day('11-02', 'B-1', 3), day('11-03', '', 4)],
    ])
    expect(await shown()).toEqual([
      '10-29 1 ONE rule submitted',
      '10-30 10 TWO manual approved',
      '10-30 5 TWO manual submitted',
      '10-31 10 ONE manual submitted',
      '11-01 2 ONE manual submitted',
      '11-02 3 TWO rule submitted',
      '11-03 4 none unattributed submitted',
    ])
  })

  test('a void with ignore drops what its slice uses later, and nothing else', async () => {
    const { report, decide, shown } = await directed()
    const [first] = await report([day('10-30', 'A-1', 10), day('10-31', 'A-1', 10)])
    await decide(first!, 'void', true)
    const later = [day('10-30', 'A-1', 15), day('10-31', 'A-1', 12), day('11-01', 'A-1', 1)]
    await report(later)
    const others = ['10-31 12 ONE rule submitted', '11-01 1 ONE rule submitted']
    expect(await shown()).toEqual(['10-30 10 ONE rule voided', ...others])
    await decide(first!, 'restore', false)
    await report([...later, day('11-02', 'A-1', 1)])
    expect(await shown()).toEqual(['10-30 15 ONE rule submitted', ...others, '11-02 1 ONE rule submitted'])
  })

  test('a void with ignore of what was a whole drops what its model uses later, with slices or without', async () => {
    const { report, decide, shown } = await directed()
    const [whole] = await report([], 10)
    await decide(whole!, 'void', true)
    await report([day('10-30', 'A-1', 15), day('11-02', 'A-1', 12)])
    await report([], 100)
    expect(await shown()).toEqual(['whole 10 none unattributed voided'])
  })

  test('a whole that is open again becomes a slice, also if another part continues it', async () => {
    const { report, decide, shown, services } = await directed()
    const [whole] = await report([day('10-30', 'A-1', 10)], 10)
    await decide(whole!, 'approve', false)
    await report([day('10-31', 'A-1', 10)], 20)
    await decide(whole!, 'withdraw_approval', false)
    await report([day('10-30', 'A-1', 10), day('10-31', 'B-1', 10), day('11-01', 'A-1', 3)])
    expect(await shown()).toEqual([
      ...['10-30 10 ONE rule submitted', '10-31 10 TWO rule submitted', '11-01 3 ONE rule submitted'],
    ])
    expect(await services.entries.verify()).toEqual([])
  })

  test('slices that their source withdraws leave what is fixed, and what is ignored', async () => {
    const twoDays = [day('10-30', 'A-1', 10), day('10-31', 'A-1', 10)]
    for (const [action, expected] of [
      ['approve', ['10-30 10 ONE rule approved', 'whole 20 ONE rule submitted']],
      ['void', ['10-30 10 ONE rule voided', '10-31 10 ONE rule submitted']],
    ] as const) {
      const { report, withdraw, decide, shown } = await directed()
      const [first] = await report(twoDays, undefined, 'log')
      await decide(first!, action, true)
      await withdraw(twoDays, 30)
      expect(await shown()).toEqual([...expected])
    }
  })

  test('a correction binds its slice, and what follows there', async () => {
    const { report, services, shown } = await directed()
    const [first] = await report([day('10-30', 'A-1', 10), day('10-31', 'A-1', 10)])
    const correct = (correction: EntryCorrection) => services.entries.places.changeEntry(first!, correction, OPERATOR)
    await correct({ tokens: { input: 7, output: 0 }, reason: REASON })
    await correct({ labels: { branch: 'B-1' } })
    await report([day('10-30', 'A-1', 12), day('10-31', 'A-1', 11)])
    expect(await shown()).toEqual([
      '10-30 2 TWO rule submitted',
      '10-30 7 TWO rule submitted',
      '10-31 11 ONE rule submitted',
    ])
    const { data } = await services.entries.listing.listEntries(EVERYTHING, readListQuery({}, 'UTC'))
    expect(data.map(({ labels, tokens }) => `${tokens.input} ${labels.branch}`).sort()).toEqual([
      ...['11 A-1', '2 B-1', '7 B-1'],
    ])
  })

  test('of a billed and released slice only the last part changes', async () => {
    const { report, bill, credit, shown, services } = await directed()
    await report([day('11-01', 'A-1', 1_000_000)])
    const number = await bill('2026-11', 'ONE')
    await report([day('11-01', 'A-1', 1_300_000, 2)])
    expect(await shown()).toEqual(['11-01 1000000 ONE rule billed', '11-01 300000 ONE rule submitted'])
    await credit(number!)
    await report([day('11-01', 'A-1', 1_500_000, 3)])
    expect(await shown()).toEqual(['11-01 1000000 ONE rule submitted', '11-01 500000 ONE rule submitted'])
    expect(await services.bills.verify()).toEqual([])
  })

  test('each day has the price of its day, also when prices are corrected', async () => {
    const { report, services } = await directed()
    await report([day('10-30', 'A-1', 1_000_000), day('11-01', 'A-1', 1_000_000)])
    const price = { model: 'opus', input: 7, output: 15, effective_from: '2026-10-31', only: true, force: true }
    await services.prices.setPrice(price as never, TALLY)
    await services.entries.valuation.reprice(readRepricing({ all: true }, 'UTC')!)
    const { data } = await services.entries.listing.listEntries(EVERYTHING, readListQuery({}, 'UTC'))
    expect(data.map(({ slice, cost }) => `${slice!.day} ${JSON.stringify(cost)}`).sort()).toEqual([
      ...['2026-10-30 3', '2026-11-01 7'],
    ])
  })

  /** One session, whose entries are shown by day with their tokens, place and status. */
  async function directed() {
    const { services, report, withdraw, ...does } = await stage(await open())
    const { listing } = services.entries
    const entries = async () => (await listing.listEntries(EVERYTHING, readListQuery({}, 'UTC'))).data
    return {
      ...does,
      services,
      /** Returns the entries in the order of their days. */
      async report(slices: SliceReport[], total?: number, source: SessionSource = 'report'): Promise<string[]> {
        await report({ source, isBatch: false, body: bodyOf(slices, total) } as Said)
        return (await entries()).sort((one, other) => (one.started_at < other.started_at ? -1 : 1)).map(({ id }) => id)
      },
      withdraw: (slices: SliceReport[], total: number) => withdraw(bodyOf(slices, total)),
      shown: async () =>
        (await entries())
          .filter(({ superseded }) => !superseded)
          .map(({ slice, tokens, project, placement, status }) =>
            [slice?.day.slice(5) ?? 'whole', tokens.input, project?.key ?? 'none', placement.by, status].join(' '),
          )
          .sort(),
    }
  }

  function bodyOf(slices: SliceReport[], total: number | undefined) {
    const starts = slices.map(({ started_at }) => started_at).sort()
    const ends = slices.map(({ ended_at }) => ended_at).sort()
    return {
      ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: 'opus', session_id: 's' },
      ...{ started_at: starts[0] ?? '2026-10-30T10:00:00Z', ended_at: ends.at(-1) ?? '2026-10-30T11:00:00Z' },
      ...(total === undefined ? { slices } : { tokens: { input: total, output: 0 }, labels: slices[0]?.labels ?? {} }),
    }
  }

  function day(date: string, branch: string, input: number, hours = 1): SliceReport {
    return {
      ...{ started_at: `2026-${date}T10:00:00Z`, ended_at: `2026-${date}T1${hours}:00:00Z` },
      tokens: { input, output: 0 },
      ...(branch !== '' && { labels: { branch } }),
    }
  }

  function nextMoment(calls: readonly Call[], { hours }: Act): number {
    return (calls.at(-1)?.at ?? START) + hours * HOUR + 1
  }

  function statementOf(
    calls: readonly Call[],
    {
      way,
      session,
      isPriced,
      isLess,
    }: { way: (typeof WAYS)[number]; session: string; isPriced: boolean; isLess: boolean },
  ): Said {
    const source = way === 'log' || way === 'span' || way === 'metric' ? way : 'report'
    // Telemetry may have lost a call, and names no branches.
    const own = source === 'report' || !isLess ? calls : calls.slice(1)
    const used = own.length > 0 ? own : calls
    const moment = (at: number) => new Date(at).toISOString()
    const sum = (get: (call: Call) => number) => used.reduce((total, call) => total + get(call), 0)
    const totals = {
      ...{ input: sum(({ input }) => input), output: OUTPUT * used.length, searches: sum(({ searches }) => searches) },
      micros: isPriced ? sum(({ input }) => input) : 0,
    }
    const usage = (input: number, output: number, searches: number) => ({
      tokens: { input, output },
      ...(searches > 0 && { tools: { search: searches } }),
      ...(isPriced && { reported_cost: input / 1_000_000 }),
    })
    const labelsOf = (branch: string) => (branch === '' || source !== 'report' ? {} : { labels: { branch } })
    const cells = used.map(
      ({ at, branch, input, searches }): SliceReport => ({
        ...{ started_at: moment(at), ended_at: moment(at + 1_000) },
        ...usage(input, OUTPUT, searches),
        ...labelsOf(branch),
      }),
    )
    const [first, latest] = [cells[0]!, used.at(-1)!]
    const body = {
      ...{ agent_harness: 'claude-code', agent_name: 'claude-code', model: 'opus', session_id: session },
      ...{ started_at: first.started_at, ended_at: moment(latest.at + 1_000) },
    }
    const isWhole = way === 'plain' || way === 'metric'
    return {
      ...{ source, isBatch: way === 'batch', totals },
      body: isWhole
        ? { ...body, ...usage(totals.input, totals.output, totals.searches), ...labelsOf(latest.branch) }
        : { ...body, slices: cells },
    } as Said
  }
})

/** The part as reports see it: with all parts of a division, and as it was reported. */
function wholePart(row: EntryRecord) {
  return reportedPart(isDivided(row) ? wholeOf({ entry: row }).entry : row)
}

const inSession = (rows: readonly EntryRecord[]) => rows.filter(({ sessionId }) => sessionId !== null)
const slice = ({ sliceDay, slicePlace }: EntryRecord) => `${sliceDay} ${slicePlace}`

/** What is fixed stays, and of each slice only the last part changes. */
function requireFixed(before: readonly EntryRecord[], after: readonly EntryRecord[]): void {
  const now = new Map(after.map((row) => [row.id, row]))
  const lasts = new Set(new Map(inSession(before).map((row) => [slice(row), row.id])).values())
  for (const row of before) {
    const then = now.get(row.id)!
    if (isLocked(row)) expect(text(then)).toBe(text(row))
    const isOpen = row.sessionId === null || row.sliceDay === null || lasts.has(row.id)
    if (isFixed(row) || !isOpen) expect(figuresOf(then)).toBe(figuresOf(row))
    if (row.placedBy === 'manual') expect([then.placedBy, then.projectId]).toEqual([row.placedBy, row.projectId])
    if (row.sliceDay !== null && !then.superseded && row.status !== 'submitted') expect(slice(then)).toBe(slice(row))
  }
}

/** What people placed or divided binds later parts of the slice, else new slices of its place. */
function requireBound(before: readonly EntryRecord[], after: readonly EntryRecord[]): void {
  const known = new Set(before.map(({ id }) => id))
  const parts = inSession(before)
  for (const row of inSession(after).filter(({ id, sliceDay }) => !known.has(id) && sliceDay !== null)) {
    const own = parts.filter((part) => slice(part) === slice(row)).at(-1)
    const earlier = parts
      .filter(({ sliceDay, slicePlace }) => slicePlace === row.slicePlace && sliceDay! < row.sliceDay!)
      .filter((part) => part.placedBy === 'manual' || isShare(part))
      .sort((one, other) => one.sliceDay! - other.sliceDay! || one.part! - other.part!)
      .at(-1)
    const binding = own ?? earlier
    expect(row.placedBy === 'manual').toBe(binding?.placedBy === 'manual')
    expect(isShare(row)).toBe(binding !== undefined && isShare(binding))
    if (binding?.placedBy === 'manual') expect(row.projectId).toBe(binding.projectId)
    expect(row.status).toBe('submitted')
  }
}

function sumsOf(rows: readonly EntryRecord[]) {
  const parts = inSession(rows).map(wholePart)
  const sum = (get: (part: (typeof parts)[number]) => number) => parts.reduce((total, part) => total + get(part), 0)
  return {
    input: sum(({ counts }) => counts.input),
    output: sum(({ counts }) => counts.output),
    searches: sum(({ details }) => details?.tools?.search ?? 0),
    micros: sum(({ reportedCostNanos }) => Number(reportedCostNanos ?? 0n)) / 1_000,
  }
}

/** The source with the most output supplies the session. */
function suppliedBy(latest: ReadonlyMap<SessionSource, Said>): Said {
  const order: readonly SessionSource[] = ['report', 'log', 'span', 'metric']
  const ranked = [...latest.values()].sort(
    (one, other) => other.totals.output - one.totals.output || order.indexOf(one.source) - order.indexOf(other.source),
  )
  return ranked[0]!
}

/** All entries together, on whichever bill, are what the source that counts has said; ignored ones are not. */
function requireSums(rows: readonly EntryRecord[], latest: ReadonlyMap<SessionSource, Said>): void {
  if (rows.some(ignoresReports)) return
  const { totals } = suppliedBy(latest)
  const { searches, ...sums } = sumsOf(rows)
  const { searches: said, ...others } = totals
  expect(sums).toEqual(others)
  // Without tools, a report says nothing of them.
  if (said > 0) expect(searches).toBe(said)
}

function figuresOf(row: EntryRecord): string {
  const { input, output, usageDetails, reportedCost, listValue, requests } = row
  return text([input, output, usageDetails, reportedCost, listValue, requests])
}

function refusal(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each))
}
