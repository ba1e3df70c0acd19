import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { Bill } from '../../../src/features/bills/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const DAY_MS = 86_400_000
/** Bills are due on 31 December. */
const DUE_DAYS = 30

let mail: TestMailServer
beforeAll(async () => {
  mail = await startMailServer()
})
afterEach(() => {
  mail.letters.length = 0
})
afterAll(() => mail.close())

forEachEngine('reminders', (open) => {
  async function stage() {
    const db = await open()
    const time = { now: NOW }
    const server = () =>
      createServices({ db, clock: { now: () => time.now }, mail: { ...mail.address, from: 'bills@agents.example' } })
    const services = server()
    const { bills, organization, projects } = services
    const caller = await addReporter(services.people)
    await organization.changeSettings({ reminderDays: 7, billFooter: 'IBAN DE02' }, TALLY)
    await projects.addClient(OPERATOR, { name: 'Acme', email: 'bills@acme.example' })
    await projects.addProject(OPERATOR, { key: 'WEB', name: 'Acme web', client: 'Acme' })
    /** Sends a bill for 100 dollars to nobody yet. */
    async function send(more: Partial<Parameters<typeof bills.send>[0]> = {}) {
      await services.entries.reporting.reportEntry(reportBody({ project: 'WEB', reported_cost: 100 }), caller)
      const body = { month: '2026-11', client: 'Acme', deliver_to: [], ...more }
      return (await bills.send(body, { by: TALLY })).bill.bill.number
    }
    const show = async (number: string) => JSON.parse(await bills.billText(await bills.getBill(number))) as Bill
    /** The subjects of the e-mails that several servers send on this day after 1 December. */
    async function mailsOn(day: number) {
      time.now = NOW + day * DAY_MS
      const servers = [services, server(), server()]
      await Promise.all(servers.map((each) => each.bills.reminders.remindDue()))
      await Promise.all(servers.map((each) => each.bills.deliveries.deliverDue()))
      return mail.letters.splice(0).map(({ headers, to }) => [headers.get('subject'), to[0]])
    }
    return { ...services, time, send, show, mailsOn }
  }
  const subject = (number: string) => `Reminder: bill ${number} from Tally was due on 2026-12-31`

  test('of an overdue bill are sent once per interval, by however many servers, with the bill and its balance', async () => {
    const { bills, organization, audit, time, send, show, mailsOn } = await stage()
    await organization.changeSettings({ name: 'Tally' }, TALLY)
    const number = await send()
    await bills.payBill(number, { amount: 60 }, { by: TALLY })
    expect(await mailsOn(DUE_DAYS + 6)).toEqual([])
    time.now = NOW + (DUE_DAYS + 7) * DAY_MS - 3_600_000
    await bills.reminders.remindDue()
    expect((await show(number)).deliveries).toEqual([])
    time.now = NOW + (DUE_DAYS + 7) * DAY_MS
    await Promise.all([bills.reminders.remindDue(), bills.reminders.remindDue()])
    await bills.deliveries.deliverDue()
    const [letter, ...others] = mail.letters.splice(0)
    expect([letter!.headers.get('subject'), letter!.to, others]).toEqual([subject(number), ['bills@acme.example'], []])
    expect(letter!.text).toContain(`Bill ${number} from Tally, dated 2026-12-01, was due on 2026-12-31`)
    expect(letter!.text).toMatch(/Paid +USD 60\.00\n +Open +USD 40\.00\n/)
    expect(letter!.text).toContain('IBAN DE02')
    expect(letter!.attachments).toMatchObject([{ type: 'application/pdf' }])
    for (const day of [7, 8, 13]) expect(await mailsOn(DUE_DAYS + day)).toEqual([])
    expect(await mailsOn(DUE_DAYS + 14)).toEqual([[subject(number), 'bills@acme.example']])
    // A server that did not run for long makes up for one reminder only.
    expect(await mailsOn(DUE_DAYS + 50)).toHaveLength(1)
    expect(await show(number)).toMatchObject({ delivery: 'none', deliveries: [{ notice: 'reminder' }, {}, {}] })
    const changes = await audit.listChanges({ filter: { actions: ['bill.reminded'] }, after: undefined, limit: 9 })
    expect(changes.data).toHaveLength(3)
  })

  test('and other e-mails with a bill are written in the locale of the bill', async () => {
    const { bills, organization, send, mailsOn } = await stage()
    await organization.changeSettings({ name: 'Tally', locale: 'de-DE' }, TALLY)
    const number = await send({ deliver_to: ['bills@acme.example'] })
    await organization.changeSettings({ locale: 'en-US' }, TALLY)
    await bills.deliveries.deliverDue()
    const [letter] = mail.letters.splice(0)
    expect(letter!.text).toContain('dated 1. Dez. 2026, is attached')
    expect(letter!.text).toMatch(/Period +1\. Nov\. 2026 to 30\. Nov\. 2026\n +Total +USD 100,00\n/)
    expect(await mailsOn(DUE_DAYS + 7)).toEqual([
      [`Reminder: bill ${number} from Tally was due on 31. Dez. 2026`, 'bills@acme.example'],
    ])
  })

  test('go to whom the bill was last sent to, and not of bills that are paid, void, credited or switched off', async () => {
    const { bills, projects, organization, time, send, show, mailsOn } = await stage()
    const by = TALLY
    const [paid, voided, credited] = [await send(), await send(), await send()]
    const number = await send({ deliver_to: ['ada@acme.example', 'eve@acme.example'] })
    await bills.payBill(paid, {}, { by })
    await bills.voidBill(voided, { reason: 'x' }, by)
    await bills.payBill(credited, { amount: 1 }, { by })
    await bills.creditBill(credited, {}, by)
    await bills.deliveries.deliverDue()
    mail.letters.length = 0
    await projects.changeClient(OPERATOR, 'Acme', { reminders: false })
    expect(await mailsOn(DUE_DAYS + 8)).toEqual([])
    await projects.changeClient(OPERATOR, 'Acme', { reminders: true })
    await organization.changeSettings({ reminderDays: null }, by)
    expect(await mailsOn(DUE_DAYS + 9)).toEqual([])
    await organization.changeSettings({ reminderDays: 1 }, by)
    const recipients = (await mailsOn(DUE_DAYS + 10)).map(([, to]) => to)
    expect(recipients.sort()).toEqual(['ada@acme.example', 'eve@acme.example'])
    // Paid while the reminder waits for the mail server.
    time.now += DAY_MS
    await bills.reminders.remindDue()
    await bills.payBill(number, {}, { by })
    await bills.deliveries.deliverDue()
    expect(mail.letters).toEqual([])
    expect((await show(number)).deliveries.at(-1)).toMatchObject({
      state: 'failed',
      answer: 'Not sent because the bill is no longer overdue.',
    })
  })
})
