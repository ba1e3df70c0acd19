import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { ExtraFigure } from '../../../src/features/reports/extra-figures.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)

forEachEngine('the figures of a report that are calculated on request', (open) => {
  async function stage() {
    const services = createServices({ db: await open(), clock: { now: () => NOW } })
    const { people, projects, entries, reports } = services
    const [ada, bob] = [await addReporter(people), await addReporter(people, { name: 'Bob' })]
    await projects.addClient(OPERATOR, { name: 'Acme', email: 'bills@acme.example' })
    for (const key of ['WEB', 'API']) await projects.addProject(OPERATOR, { key, name: key, client: 'Acme' })
    const report = (more: Record<string, unknown>, caller = ada) =>
      entries.reporting.reportEntry(reportBody({ reported_cost: 1, project: 'WEB', ...more }), caller)
    // A session with two models, one of another person, and two entries without a session.
    await report({ session_id: 's-1', model: 'one', ended_at: '2026-11-20T10:00:01.500Z' })
    await report({ session_id: 's-1', model: 'two' })
    await report({ session_id: 's-2', model: 'one', project: 'API', reported_cost: 2.5 }, bob)
    await report({ model: 'one' }, bob)
    await report({ model: 'two' }, bob)
    const usage = async (texts: Record<string, string | string[]>) => {
      const asked = { starting_at: '2026-11-01', bucket_width: 'all', ...texts }
      const report = await reports.usage(EVERYTHING, await reports.readUsage(asked, COMMAND_LINE))
      return JSON.parse(JSON.stringify(report)) as typeof report
    }
    return { ...services, report, usage }
  }

  const include: ExtraFigure[] = ['sessions', 'people', 'duration']

  test('count sessions, people and time once in each group and in total', async () => {
    const { usage } = await stage()
    const { data, totals } = await usage({ include, group_by: ['model'] })
    expect(totals).toMatchObject({ entries: 5, sessions: 4, people: 2, duration: 4 * 3_600 + 1.5 })
    const groups = Object.fromEntries(data[0]!.results.map((group) => [group.model, group]))
    expect(groups.one).toMatchObject({ sessions: 3, people: 2, duration: 2 * 3_600 + 1.5 })
    expect(groups.two).toMatchObject({ sessions: 2, people: 2, duration: 2 * 3_600 })
    expect(Object.keys(totals)).not.toContain('billed')
    expect(Object.keys((await usage({})).totals)).not.toContain('sessions')
  })

  test('count a session of several projects of a client once for the client', async () => {
    const { usage, report } = await stage()
    await report({ session_id: 's-1', model: 'three', project: 'API' })
    const by = async (dimension: 'project' | 'client') =>
      (await usage({ include, group_by: [dimension] })).data[0]!.results
    const sessions = (await by('project')).map(({ project, sessions }) => [project?.key, sessions])
    expect(Object.fromEntries(sessions)).toEqual({ WEB: 3, API: 2 })
    expect(await by('client')).toMatchObject([{ client: { name: 'Acme' }, sessions: 4, people: 2 }])
  })

  test('add up the active time that is known, and count the entries whose time is not', async () => {
    const { usage, report } = await stage()
    expect((await usage({ include: ['active_seconds'] })).totals).toMatchObject({
      active_seconds: null,
      untimed_entries: 5,
    })
    await report({ session_id: 's-3', model: 'one', active_seconds: 384.25 })
    await report({ session_id: 's-4', model: 'one', active_seconds: 0 })
    const { data, totals } = await usage({ include: ['active_seconds'], group_by: ['model'] })
    expect(totals).toMatchObject({ entries: 7, active_seconds: 384.25, untimed_entries: 5 })
    const times = data[0]!.results.map(({ model, ...group }) => [model, group.active_seconds, group.untimed_entries])
    expect(Object.fromEntries(times.map(([model, ...rest]) => [model, rest]))).toEqual({
      one: [384.25, 3],
      two: [null, 2],
    })
    // What becomes known later is in the sums, too.
    await report({ session_id: 's-1', model: 'two', active_seconds: 16 })
    expect((await usage({ include: ['active_seconds'] })).totals).toMatchObject({
      active_seconds: 400.25,
      untimed_entries: 4,
    })
    const nothing = await usage({ include: ['active_seconds'], agent_name: 'nobody' })
    expect(nothing.totals).toMatchObject({ entries: 0, active_seconds: null, untimed_entries: 0 })
  })

  test('are what is billed at the moment, whatever the filter says about other statuses', async () => {
    const { usage, bills } = await stage()
    const billed = async (more: Record<string, string | string[]> = {}) =>
      (await usage({ include: ['billed'], ...more })).totals.billed
    expect(await billed()).toBe(0)
    const { bill: sent } = await bills.send({ month: '2026-11', project: 'API' }, { by: TALLY })
    expect(await billed()).toBe(2.5)
    expect(await billed({ status: 'submitted' })).toBe(0)
    expect(await billed({ status: ['submitted', 'billed'] })).toBe(2.5)
    const { data } = await usage({ include: ['billed'], group_by: ['project'] })
    expect(data[0]!.results.map(({ project, billed }) => [project?.key, billed])).toEqual([
      ['WEB', 0],
      ['API', 2.5],
    ])
    await bills.voidBill(sent.bill.uid, { reason: 'wrong' }, TALLY)
    expect(await billed()).toBe(0)
  })
})
