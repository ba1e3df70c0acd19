/** Anomalies are events of the day before, each once, however often and by however many servers they are looked for. */
import { expect, test } from 'bun:test'
import { viewerOf } from '../../../src/access/visibility.ts'
import { forEachEngine } from '../../support/databases.ts'
import { DAY_MS, NOW, stage, WORKING_DAYS } from './stage.ts'

const MONDAY = '2026-11-23'

forEachEngine('an anomaly', (open) => {
  test('of a day and of a person comes once, from two servers, again and after six in the morning', async () => {
    const { services, time, found, reportUsual, reportMany, elsewhere, adaId } = await stage(open)
    const other = await elsewhere()
    await reportUsual()
    await reportMany(MONDAY, 16)
    time.now = Date.UTC(2026, 10, 24, 5, 59)
    await services.anomalies.look()
    expect(await found()).toEqual([])
    time.now = Date.UTC(2026, 10, 24, 6)
    await Promise.all([services.anomalies.look(), other.anomalies.look()])
    await services.anomalies.look()
    // The median is 22, the median absolute deviation 1.
    const after = { day: MONDAY, cost: 160, usual: 22, score: 93.1, list: expect.any(String) }
    const ada = { id: adaId, name: 'Ada' }
    const events = [
      { object: null, entry: undefined, after: { subject: 'day', ...after } },
      { object: ada, entry: undefined, after: { subject: 'person', agent_manager: ada, ...after } },
    ]
    expect(await found()).toEqual(events)
    time.now = NOW + 10 * 3_600_000
    await (await elsewhere()).anomalies.look()
    expect(await found()).toEqual(events)
  })

  test('of a session names the entry, which cost more than any in four weeks', async () => {
    const { services, found, report, reportUsual, adaId } = await stage(open)
    await reportUsual()
    await report('2026-11-10', null)
    const uid = await report(MONDAY, 45.5)
    await report(MONDAY, 20.99)
    await report(MONDAY, null)
    await services.anomalies.look()
    const sessions = (await found()).filter(({ after }) => after.subject === 'session')
    expect(sessions).toEqual([
      {
        object: null,
        entry: uid,
        after: {
          subject: 'session',
          day: MONDAY,
          agent_manager: { id: adaId, name: 'Ada' },
          cost: 45.5,
          usual: 11,
          score: 46.5,
          list: null,
        },
      },
    ])
  })

  test('is no session that is far from usual, but not the most expensive', async () => {
    const { services, found, report, reportUsual } = await stage(open)
    await reportUsual()
    await report('2026-11-10', 45.5)
    await report(MONDAY, 45.5)
    await services.anomalies.look()
    expect((await found()).map(({ after }) => after.subject)).toEqual(['person'])
  })

  test('is no more than three sessions of a person', async () => {
    const { services, found, report, reportUsual } = await stage(open)
    await reportUsual()
    for (const cost of [41, 42, 43, 44]) await report(MONDAY, cost)
    await services.anomalies.look()
    const costs = (await found()).filter(({ after }) => after.subject === 'session').map(({ after }) => after.cost)
    expect(costs).toEqual([44, 43, 42])
  })

  test('is found by the past of its person, and not by that of others', async () => {
    const { services, found, report, reportUsual, reportMany, addPerson } = await stage(open)
    const [grace, edsger] = [await addPerson('Grace'), await addPerson('Edsger')]
    for (let times = 0; times < 8; times += 1) await reportUsual()
    await report('2026-11-10', 200)
    await reportMany(MONDAY, 16)
    await reportUsual(WORKING_DAYS, grace)
    await report(MONDAY, 60, { caller: grace })
    // Somebody new has no past.
    await reportUsual(WORKING_DAYS.slice(-9), edsger)
    await report(MONDAY, 90, { caller: edsger })
    await services.anomalies.look()
    expect((await found()).map(({ after }) => [after.subject, after.agent_manager?.name, after.cost])).toEqual([
      ['day', undefined, 310],
      ['session', 'Grace', 60],
      ['person', 'Grace', 60],
    ])
  })

  test('of a person is at least 20 dollars above what is usual, and never below it', async () => {
    const { services, found, time, reportUsual, reportMany } = await stage(open)
    await reportUsual()
    await reportMany(MONDAY, 4)
    await reportMany('2026-11-24', 1)
    await services.anomalies.look()
    time.now += DAY_MS
    await services.anomalies.look()
    expect(await found()).toEqual([])
  })

  test('has a day of the organization’s time zone, also where clocks change', async () => {
    const { services, found, time, report, reportUsual, setZone } = await stage(open)
    await setZone('Europe/Berlin')
    const before = Array.from({ length: 28 }, (_, at) =>
      new Date(Date.UTC(2026, 8, 27) + at * DAY_MS).toISOString().slice(0, 10),
    )
    await reportUsual(before)
    // Sunday, 25 October, has 25 hours: from 22:00 UTC to 23:00 UTC.
    for (const at of ['2026-10-24T21:59:59Z', '2026-10-25T23:00:00Z']) await report(at, 900)
    const [first, last] = ['2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z']
    for (const at of [first, last]) for (let sessions = 0; sessions < 5; sessions += 1) await report(at, 12)
    time.now = Date.parse('2026-10-26T04:59:00Z')
    await services.anomalies.look()
    expect((await found()).filter(({ after }) => after.day === '2026-10-25')).toEqual([])
    time.now = Date.parse('2026-10-26T05:00:00Z')
    await services.anomalies.look()
    const ofDay = (await found()).filter(({ after }) => after.day === '2026-10-25')
    expect(ofDay.map(({ after }) => [after.subject, after.cost])).toEqual([
      ['day', 120],
      ['person', 120],
    ])
  })

  test('of a day on which no server was running is not found later', async () => {
    const { services, found, time, reportUsual, reportMany } = await stage(open)
    await reportUsual()
    await services.anomalies.look()
    await reportMany('2026-11-24', 16)
    time.now += 3 * DAY_MS
    await reportMany('2026-11-26', 14)
    await services.anomalies.look()
    expect((await found()).map(({ after }) => [after.day, after.subject])).toEqual([
      ['2026-11-26', 'day'],
      ['2026-11-26', 'person'],
    ])
  })

  test('is read by billing and admins, and by the person whose usage it is', async () => {
    const { db, services, found, report, reportUsual, reportMany, addPerson } = await stage(open)
    const grace = await addPerson('Grace')
    await reportUsual()
    await reportUsual(WORKING_DAYS, grace)
    await reportMany(MONDAY, 16)
    await report(MONDAY, 70, { caller: grace })
    await services.anomalies.look()
    const { id: graceKey } = await services.people.getUser('grace@example.com')
    // An entry that does not exist any more.
    const gone = { type: 'usage.anomaly_found', entryId: 1_000_000, managerId: graceKey, after: { subject: 'gone' } }
    await db.write((tx) => services.events.record(tx, [gone as never]))
    const readBy = async (role: 'billing' | 'member', id = graceKey) =>
      (await found({ viewer: viewerOf({ id, role }), isAdmin: false })).map(({ after }) => [
        after.subject,
        after.agent_manager?.name,
      ])
    const ofGrace = [
      ['session', 'Grace'],
      ['person', 'Grace'],
    ]
    expect(await readBy('billing')).toEqual([['day', undefined], ['person', 'Ada'], ...ofGrace])
    expect(await readBy('member')).toEqual(ofGrace)
    expect(await readBy('member', graceKey + 1)).toEqual([])
  })
})
