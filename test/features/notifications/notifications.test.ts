/** What people are sent by e-mail, through a real mail server: who gets what, once, and at most one e-mail an hour. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { viewerOf } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { NewBudget } from '../../../src/features/budgets/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine, type Open } from '../../support/databases.ts'
import { type Letter, startMailServer, type TestMailServer } from '../../support/mail-server.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOON = Date.UTC(2026, 10, 20, 12)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let mail: TestMailServer
beforeAll(async () => {
  mail = await startMailServer()
})
afterAll(() => mail.close())

async function stageOf(open: Open) {
  const db = await open()
  const clock = { moment: NOON, now: () => clock.moment }
  const servicesOn = (shared: Database) =>
    createServices({
      db: shared,
      clock,
      mail: { ...mail.address, from: 'tally@example.com' },
      publicUrl: 'https://tally.example.com',
    })
  const services = servicesOn(db)
  const elsewhere = servicesOn(await open({ sharing: db }))
  const { people, budgets, entries, notifications } = services
  const ada = await addReporter(people)
  await people.addUser({ email: 'finance@example.com', name: 'Finance', role: 'billing' }, TALLY)
  const add = async (given: NewBudget) => {
    const budget = await budgets.addBudget(given, { by: TALLY })
    await budgets.count()
    return budget
  }
  const spend = (cost: number, session: string) =>
    entries.reporting.reportEntry(reportBody({ project: 'ACME', reported_cost: cost, session_id: session }), ada)
  mail.letters.length = 0
  /** By two servers at once, and once more. Returns the e-mails that were sent since. */
  const send = async (): Promise<Letter[]> => {
    const before = mail.letters.length
    await Promise.all([services, elsewhere].map(({ budgets }) => budgets.alerts.run()))
    await Promise.all([services, elsewhere].map((each) => each.notifications.run()))
    await notifications.run()
    return mail.letters.slice(before)
  }
  await spend(0, 'first')
  return { ...services, db, clock, ada, add, spend, send }
}

const to = (letters: readonly Letter[]) => letters.flatMap((letter) => letter.to).sort()
const subjects = (letters: readonly Letter[]) => letters.map(({ headers }) => headers.get('subject'))

const threshold = (percent: number, recipients: object) => ({ percent, ...recipients })

forEachEngine('notifications', (open) => {
  test('tell each recipient about the highest threshold that names them, once, whoever sends', async () => {
    const { add, spend, send } = await stageOf(open)
    const budget = await add({
      name: 'ACME',
      scope: { project: 'ACME' },
      amount: 10,
      thresholds: [
        threshold(50, { emails: ['ops@example.org'] }),
        threshold(80, { billing: true, emails: ['ops@example.org'] }),
      ],
    })
    expect(await send()).toEqual([])
    await spend(9, 'one')
    const letters = await send()
    expect(to(letters)).toEqual(['finance@example.com', 'ops@example.org'])
    expect(subjects(letters)).toEqual(Array(2).fill('Budget ACME: 80% reached ($9.00 of $10.00)'))
    const [finance, ops] = ['finance@example.com', 'ops@example.org'].map(
      (address) => letters.find((letter) => letter.to[0] === address)!,
    )
    expect(finance!.text).toContain(`https://tally.example.com/budgets/${budget.id}`)
    expect(finance!.text).toContain('Choose what you are sent: https://tally.example.com/account#notifications')
    expect(finance!.headers.get('list-unsubscribe')).toBe('<https://tally.example.com/account#notifications>')
    expect(ops!.text).toContain('A budget names this address')
    expect(ops!.headers.has('list-unsubscribe')).toBe(false)
    expect(await send()).toEqual([])
  })

  test('tell about the highest threshold only, however long the transaction of one report takes', async () => {
    const { add, spend, send, clock } = await stageOf(open)
    const thresholds = [50, 80, 100].map((percent) => threshold(percent, { billing: true }))
    await add({ name: 'ACME', scope: { project: 'ACME' }, amount: 10, thresholds })
    clock.now = () => {
      clock.moment += 1
      return clock.moment
    }
    await spend(30, 'one')
    expect(subjects(await send())).toEqual(['Budget ACME: 100% reached ($30.00 of $10.00)'])
  })

  test('of the budget of a ticket are for the leads of its project, who see the budget', async () => {
    const { add, send, projects, people, entries, budgets, ada } = await stageOf(open)
    await addReporter(people, { name: 'Lead', role: 'member' })
    await projects.changeProject(OPERATOR, 'ACME', { leads: ['lead@example.com'] })
    await projects.addNewTicket(OPERATOR, { key: 'ACME-1', project: 'ACME' })
    const { id } = await add({ scope: { ticket: 'ACME-1' }, amount: 10, thresholds: [threshold(50, { leads: true })] })
    const body = reportBody({ project: 'ACME', ticket: 'ACME-1', reported_cost: 5, session_id: 'of a ticket' })
    await entries.reporting.reportEntry(body, ada)
    expect(to(await send())).toEqual(['lead@example.com'])
    const lead = (await people.findUser('lead@example.com'))!
    expect(await budgets.getStatus(id, viewerOf(lead))).toMatchObject({ spent: 5 })
  })

  test('wait until an hour after the last e-mail, and are then sent together', async () => {
    const { add, spend, send, clock } = await stageOf(open)
    const thresholds = [50, 80, 100].map((percent) => threshold(percent, { billing: true }))
    await add({ name: 'ACME', scope: { project: 'ACME' }, amount: 10, thresholds })
    await spend(5, 'one')
    expect(subjects(await send())).toEqual(['Budget ACME: 50% reached ($5.00 of $10.00)'])
    await spend(3, 'two')
    clock.moment += MINUTE_MS
    expect(await send()).toEqual([])
    await spend(3, 'three')
    clock.moment += 58 * MINUTE_MS
    expect(await send()).toEqual([])
    clock.moment += 2 * MINUTE_MS
    const [letter, ...others] = await send()
    expect(others).toEqual([])
    expect(letter!.headers.get('subject')).toBe('Budget ACME: 80% reached ($8.00 of $10.00), and 1 more')
    expect(letter!.text).toContain('has reached 100% of $10.00')
    clock.moment += HOUR_MS
    expect(await send()).toEqual([])
  })

  test('are not sent to people who turned them off, are disabled or were erased', async () => {
    const { add, spend, send, people, personalData, clock } = await stageOf(open)
    for (const name of ['Off', 'Disabled', 'Erased']) await addReporter(people, { name, role: 'billing' })
    await people.changeUser('off@example.com', { notifications: { budget_alerts: false } }, TALLY)
    await people.disableUser('disabled@example.com', TALLY)
    const thresholds = [50, 100].map((percent) =>
      threshold(percent, { billing: true, emails: ['off@example.com', 'disabled@example.com'] }),
    )
    await add({ scope: { project: 'ACME' }, amount: 10, thresholds })
    await spend(5, 'one')
    expect(to(await send())).toEqual(['erased@example.com', 'finance@example.com'])
    await spend(5, 'two')
    await send()
    await personalData.erasure.erase('erased@example.com', [], TALLY)
    clock.moment += HOUR_MS
    expect(to(await send())).toEqual(['finance@example.com'])
  })

  test('are sent again after a failure, with the same Message-ID, but not after a refusal', async () => {
    const { db, add, spend, send, clock } = await stageOf(open)
    const emails = ['later@example.com', 'unknown@example.com']
    await add({ scope: { project: 'ACME' }, amount: 10, thresholds: [threshold(50, { emails })] })
    await spend(5, 'one')
    expect(await send()).toEqual([])
    const statesOf = async () =>
      (await db.read.select().from(db.read.tables.notificationEmails)).map(
        ({ recipient, state, attempts }) => `${recipient} ${state} ${attempts}`,
      )
    expect((await statesOf()).sort()).toEqual(['later@example.com queued 1', 'unknown@example.com failed 1'])
    clock.moment += MINUTE_MS
    await send()
    expect((await statesOf()).sort()).toEqual(['later@example.com queued 2', 'unknown@example.com failed 1'])
  })

  test('of a sender that died are sent two minutes later', async () => {
    const { db, add, spend, budgets, send, clock } = await stageOf(open)
    await add({ scope: { project: 'ACME' }, amount: 10, thresholds: [threshold(50, { billing: true })] })
    await spend(5, 'one')
    await budgets.alerts.run()
    const { notifications, notificationEmails } = db.read.tables
    // What a process leaves that was killed after it had reserved the e-mail.
    await db.write(async (tx) => {
      const [email] = await tx
        .insert(notificationEmails)
        .values({
          recipient: 'finance@example.com',
          state: 'queued',
          attempts: 0,
          nextAttemptAt: clock.moment + 2 * MINUTE_MS,
          createdAt: clock.moment,
        })
        .returning({ id: notificationEmails.id })
      await tx.update(notifications).set({ emailId: email!.id })
    })
    expect(await send()).toEqual([])
    clock.moment += 2 * MINUTE_MS
    expect(to(await send())).toEqual(['finance@example.com'])
  })

  test('are sent when a clock that was ahead is set back', async () => {
    const { db, add, spend, send, clock } = await stageOf(open)
    const thresholds = [50, 80].map((percent) =>
      threshold(percent, { emails: ['finance@example.com', 'later@example.com'] }),
    )
    await add({ scope: { project: 'ACME' }, amount: 10, thresholds })
    clock.moment += 90 * 24 * HOUR_MS
    await spend(5, 'one')
    expect(to(await send())).toEqual(['finance@example.com'])
    clock.moment = NOON + HOUR_MS
    await spend(3, 'two')
    expect(to(await send())).toEqual(['finance@example.com'])
    const emails = await db.read.select().from(db.read.tables.notificationEmails)
    expect(emails.find(({ recipient }) => recipient === 'later@example.com')).toMatchObject({ attempts: 2 })
  })

  test('wait for the next start if the server stops before the next of them is begun', async () => {
    const { add, spend, send, budgets, notifications } = await stageOf(open)
    await add({ scope: { project: 'ACME' }, amount: 10, thresholds: [threshold(50, { billing: true })] })
    await spend(5, 'one')
    await budgets.alerts.run()
    await notifications.run(AbortSignal.abort())
    expect(mail.letters).toEqual([])
    expect(to(await send())).toEqual(['finance@example.com'])
  })

  test('are deleted a month after they were sent', async () => {
    const { db, add, spend, send, notifications, clock } = await stageOf(open)
    await add({ scope: { project: 'ACME' }, amount: 10, thresholds: [threshold(50, { billing: true })] })
    await spend(5, 'one')
    await send()
    clock.moment += 29 * 24 * HOUR_MS
    await notifications.tidy()
    expect(await db.read.select().from(db.read.tables.notifications)).toHaveLength(1)
    clock.moment += 2 * 24 * HOUR_MS
    await notifications.tidy()
    expect(await db.read.select().from(db.read.tables.notifications)).toEqual([])
    expect(await db.read.select().from(db.read.tables.notificationEmails)).toEqual([])
  })

  test('can be tested, with the answer of a mail server that does not accept the e-mail', async () => {
    const { add, budgets } = await stageOf(open)
    const emails = ['ops@example.org', 'unknown@example.com']
    const budget = await add({
      scope: { project: 'ACME' },
      amount: 10,
      thresholds: [threshold(50, { billing: true, emails })],
    })
    const { recipients, failed } = await budgets.test(budget.id)
    expect(recipients.sort()).toEqual(['finance@example.com', 'ops@example.org'])
    expect(failed).toEqual([{ email: 'unknown@example.com', answer: expect.stringContaining('550') }])
    expect(subjects(mail.letters)[0]).toStartWith('[Test] Budget')
  })
})
