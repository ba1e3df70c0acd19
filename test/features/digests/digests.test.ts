/** Digests: sent in the morning, once, to those who chose them, with the figures of the reports and lists that they link to. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { viewerOf } from '../../../src/access/visibility.ts'
import type { NotificationTopic } from '../../../src/database/schema/values.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine, type Open } from '../../support/databases.ts'
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

/** Monday, 23 November 2026, 7:00 in Berlin. */
const SEVEN = Date.UTC(2026, 10, 23, 6)
const HOUR_MS = 3_600_000
const BASE = 'https://tally.example.com'

let mail: TestMailServer
beforeAll(async () => {
  mail = await startMailServer()
})
afterAll(() => mail.close())

async function stageOf(open: Open) {
  const db = await open()
  const clock = { moment: SEVEN, now: () => clock.moment }
  const server = { mail: { ...mail.address, from: 'tally@example.com' }, publicUrl: BASE, clock }
  const services = createServices({ db, ...server })
  const elsewhere = createServices({ db: await open({ sharing: db }), ...server })
  const { people, organization, projects, entries, selection } = services
  await organization.changeSettings({ timeZone: 'Europe/Berlin' }, TALLY)
  const ada = await addReporter(people)
  const grace = await addReporter(people, { name: 'Grace', role: 'member' })
  await projects.addProject(OPERATOR, { key: 'ACME', name: 'Acme web', leads: ['grace@example.com'] })
  const choose = async (topic: NotificationTopic) => {
    // What was due before anybody wanted it is not sent later on.
    await look()
    for (const { person } of [ada, grace])
      await people.changeUser(person.uid, { notifications: { [topic]: true } }, TALLY)
  }
  mail.letters.length = 0
  const look = async () => {
    const before = mail.letters.length
    await Promise.all([services, elsewhere].map(({ digests }) => digests.look()))
    await Promise.all([services, elsewhere].map(({ notifications }) => notifications.run()))
    return mail.letters.slice(before)
  }
  const report = (caller: typeof ada, day: string, changes: Record<string, unknown>) =>
    entries.reporting.reportEntry(
      reportBody({ started_at: `${day}T10:00:00Z`, ended_at: `${day}T11:00:00Z`, ...changes }),
      caller,
    )
  /** The sum of the entries on the page that an e-mail links to, as its recipient sees them. */
  const sumAt = async (link: string, caller: typeof ada) => {
    const asker = { viewer: viewerOf(caller.person), listsPeople: false }
    const { searchParams } = new URL(link)
    const texts = Object.fromEntries(
      [...searchParams.keys()].map((name) => {
        const all = searchParams.getAll(name)
        return [name, all.length === 1 ? all[0]! : all]
      }),
    )
    const asked = await selection.read(asker, (timeZone) => readListQuery(texts, timeZone))
    const { data } = await entries.listing.listEntries(asker.viewer, asked)
    return data.reduce((sum, { cost }) => sum + (cost ?? 0), 0)
  }
  return { organization, choose, clock, ada, grace, look, report, sumAt }
}

forEachEngine('digests', (open) => {
  test('of a week are sent once on its next morning, with what each recipient sees', async () => {
    const { organization, choose, clock, ada, grace, look, report, sumAt } = await stageOf(open)
    await choose('weekly_summary')
    await report(ada, '2026-11-12', { reported_cost: 4 })
    await report(ada, '2026-11-17', { reported_cost: 2, project: 'ACME' })
    await report(ada, '2026-11-18', { reported_cost: 1 })
    await report(grace, '2026-11-19', { reported_cost: 8 })
    // Already in the new week.
    await report(grace, '2026-11-22', {
      reported_cost: 100,
      started_at: '2026-11-22T23:30:00Z',
      ended_at: '2026-11-22T23:40:00Z',
    })
    expect(await look()).toEqual([])
    clock.moment += HOUR_MS
    const letters = await look()
    const letterTo = (who: string) => letters.find((letter) => letter.to[0] === who)!
    expect(letters).toHaveLength(2)
    const [toAda, toGrace] = [letterTo('ada@example.com'), letterTo('grace@example.com')]
    expect(toAda.headers.get('subject')).toBe('Usage from 2026-11-16 to 2026-11-22: $11.00')
    expect(toAda.text).toContain('Cost     $3.00, 25% less than in the week before')
    expect(toAda.text).toContain('Usage of everyone')
    expect(toGrace.headers.get('subject')).toBe('Usage from 2026-11-16 to 2026-11-22: $2.00')
    expect(toGrace.text).toContain('Projects that you lead')
    expect(toGrace.text).toContain('Acme web  $2.00, 15 tokens')
    const links = (text: string) => [...text.matchAll(/https:\S+\/entries\S+/g)].map(([link]) => link)
    const sums = []
    for (const link of links(toAda.text)) sums.push(await sumAt(link, ada))
    for (const link of links(toGrace.text)) sums.push(await sumAt(link, grace))
    expect(sums).toEqual([3, 11, 8, 2])
    clock.moment += 24 * HOUR_MS
    expect(await look()).toEqual([])
    await organization.changeSettings({ locale: 'de-DE' }, TALLY)
    await report(ada, '2026-11-24', { reported_cost: 1_234 })
    clock.moment += 6 * 24 * HOUR_MS
    const [german] = (await look()).filter(({ to }) => to[0] === 'ada@example.com')
    expect(german!.headers.get('subject')).toContain('23=2E_Nov=2E_2026')
    expect(german!.text).toContain('Cost     1.234,00\u00a0$')
  })

  test('of a week without usage say that it cost nothing, and of one whose cost is unknown that it is', async () => {
    const { choose, clock, ada, grace, look, report } = await stageOf(open)
    await choose('weekly_summary')
    await report(ada, '2026-11-12', { reported_cost: 4 })
    await report(grace, '2026-11-18', { model: 'a model that nobody knows', project: 'ACME' })
    clock.moment += HOUR_MS
    const [toAda] = (await look()).filter(({ to }) => to[0] === 'ada@example.com')
    const [own, everyone] = toAda!.text.split('Usage of everyone')
    expect(own).toContain('Cost     $0.00, 100% less than in the week before')
    expect(everyone).toContain('Cost     unknown\n')
    expect(toAda!.headers.get('subject')).toBe('Usage from 2026-11-16 to 2026-11-22: unknown')
    clock.moment += 7 * 24 * HOUR_MS
    const [later] = (await look()).filter(({ to }) => to[0] === 'ada@example.com')
    expect(later!.headers.get('subject')).toBe('Usage from 2026-11-23 to 2026-11-29: $0.00')
  })

  test('of what needs attention are sent on working days to those who see something', async () => {
    const { choose, clock, ada, grace, look, report, sumAt } = await stageOf(open)
    await choose('attention')
    await report(ada, '2026-11-17', { reported_cost: 2 })
    await report(ada, '2026-11-18', { reported_cost: 3 })
    clock.moment += HOUR_MS
    const [letter, ...others] = await look()
    expect(others).toEqual([])
    expect(letter!.to).toEqual(['ada@example.com'])
    expect(letter!.text).toContain('2 entries are not assigned to a project or ticket ($5.00)')
    expect(await sumAt(/https:\S+\/entries\S+/.exec(letter!.text)![0], ada)).toBe(5)
    expect(await look()).toEqual([])
    await report(grace, '2026-11-23', {
      reported_cost: 1,
      started_at: '2026-11-23T06:00:00Z',
      ended_at: '2026-11-23T06:30:00Z',
    })
    clock.moment += 24 * HOUR_MS
    expect((await look()).flatMap(({ to }) => to).sort()).toEqual(['ada@example.com', 'grace@example.com'])
    // Saturday.
    clock.moment += 4 * 24 * HOUR_MS
    expect(await look()).toEqual([])
  })

  test('of unusual usage name their own to everyone, and all to admins', async () => {
    const { choose, clock, ada, grace, look, report, sumAt } = await stageOf(open)
    const DAY_MS = 24 * HOUR_MS
    for (let day = Date.UTC(2026, 9, 26); day < Date.UTC(2026, 10, 20); day += DAY_MS) {
      const text = new Date(day).toISOString().slice(0, 10)
      await report(grace, text, { reported_cost: 20 + ((day / DAY_MS) % 3) })
      await report(ada, text, { reported_cost: 30 + ((day / DAY_MS) % 3) })
    }
    await report(grace, '2026-11-20', { reported_cost: 200 })
    await report(ada, '2026-11-20', { reported_cost: 30 })
    await choose('anomalies')
    // On Saturday, of Friday.
    clock.moment = Date.UTC(2026, 10, 21, 8)
    const letters = await look()
    expect(letters.flatMap(({ to }) => to).sort()).toEqual(['ada@example.com', 'grace@example.com'])
    const [toAda, toGrace] = ['ada', 'grace'].map((name) => letters.find(({ to }) => to[0]!.startsWith(name))!.text)
    const starting = (text: string, first: string) => text.split('\n').filter((line) => line.startsWith(first))
    expect(starting(toAda!, '- ')).toEqual([
      expect.stringMatching(/^- (Everyone together: \$230|Grace: \$200|A session of Grace: \$200)\.00, usually/),
      expect.stringMatching(/^- (Everyone together: \$230|Grace: \$200|A session of Grace: \$200)\.00, usually/),
      expect.stringMatching(/^- (Everyone together: \$230|Grace: \$200|A session of Grace: \$200)\.00, usually/),
    ])
    expect(starting(toGrace!, '- ').sort()).toEqual([
      expect.stringMatching(/^- A session of Grace: \$200\.00, usually/),
      expect.stringMatching(/^- Grace: \$200\.00, usually/),
    ])
    const lists = [...toAda!.matchAll(/https:\S+starting_at\S+/g)].map(([link]) => link)
    const sums = []
    for (const link of lists) sums.push(await sumAt(link, ada))
    expect(sums.sort()).toEqual([200, 230])
    expect(await look()).toEqual([])
  })

  test('reach nobody who has not chosen them', async () => {
    const { clock, ada, look, report } = await stageOf(open)
    await report(ada, '2026-11-17', { reported_cost: 2 })
    clock.moment += HOUR_MS
    expect(await look()).toEqual([])
  })
})
