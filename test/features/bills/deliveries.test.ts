import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { SMTPServer } from 'smtp-server'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { DocumentRenderer } from '../../../src/features/bills/delivery.ts'
import { createMailer } from '../../../src/features/bills/delivery-mailer.ts'
import type { Bill } from '../../../src/features/bills/schema.ts'
import { createBillsService } from '../../../src/features/bills/service.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runJobs } from '../../support/jobs.ts'
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts'
import { startSocketServer } from '../../support/receivers.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOVEMBER = { month: '2026-11' }

let mail: TestMailServer
beforeAll(async () => {
  mail = await startMailServer()
})
afterEach(() => {
  mail.letters.length = 0
})
afterAll(() => mail.close())

const fixture = (name: string) => readFileSync(join(import.meta.dir, '../../fixtures/tls', name))

const LETTER = {
  from: { name: 'Agents & Co', address: 'bills@agents.example' },
  to: 'ada@acme.example',
  subject: 'Bill 2026-0001 from Agents & Co',
  text: 'Attached.',
  messageId: '<bil_1.1@agents.example>',
  attachments: [{ filename: 'bill.pdf', content: Buffer.from('%PDF-'), contentType: 'application/pdf' }],
}

describe('the response of the mail server', () => {
  // Short only where nothing else ends the waiting: a busy machine takes longer than that to be answered.
  const send = (to: string, sendTimeoutMs = 100_000) =>
    createMailer(mail.address, { sendTimeoutMs }).send({ ...LETTER, to })

  test('is stored if it accepted the message', async () => {
    expect(await send('ada@acme.example')).toEqual({ result: 'sent', answer: '250 Queued as 1' })
    expect(mail.letters[0]).toMatchObject({ from: 'bills@agents.example', to: ['ada@acme.example'] })
  })

  test.each([
    ['unknown', 'refused', '550 5.1.1 There is nobody of that name'],
    ['spam', 'refused', '554 5.7.1 Looks like spam'],
    ['later', 'failed', '451 4.3.0 Try again later'],
    ['stall', 'failed', 'The mail server did not accept the e-mail within 0.3 s.'],
  ])('to %s@… is %s', async (name, result, answer) => {
    expect(await send(`${name}@acme.example`, name === 'stall' ? 300 : undefined)).toEqual({
      result: result as 'failed',
      answer,
    })
  })

  test('may be a connection that ends or cannot be opened', async () => {
    expect(await send('drop@acme.example')).toMatchObject({ result: 'failed', answer: expect.stringMatching(/./) })
    const nowhere = createMailer({ ...mail.address, port: 1 })
    expect(await nowhere.send(LETTER)).toMatchObject({
      result: 'failed',
      answer: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('may be without end: it is read no further than a response may be long', async () => {
    const endless = await startSocketServer((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write('\r\n'.repeat(10_000)));
        socket.once('drain', more)
      }
      socket.write('220 ready\r\n')
      socket.once('data', more)
    })
    const mailer = createMailer({ ...mail.address, port: Number(new URL(endless.url).port) })
    const outcome = { result: 'failed' as const, answer: 'sent too much' }
    expect(await mailer.send(LETTER)).toEqual(outcome)
    expect(await mailer.check()).toBe(outcome.answer)
    await endless.close()
  })

  test('is not awaited for longer than sending may take, also when it is only checked', async () => {
    const slow = await startSocketServer((socket) => {
      socket.write('220 ready\r\n')
      const timer = setInterval(() => socket.write('250-wait\r\n'), 10)
      socket.once('close', () => clearInterval(timer))
    })
    const port = Number(new URL(slow.url).port)
    const mailer = createMailer({ ...mail.address, port }, { sendTimeoutMs: 300 })
    expect(await mailer.check()).toBe('The mail server did not accept the e-mail within 0.3 s.')
    await slow.close()
  })

  test('to a wrong password is a failure, which ends once the password is corrected', async () => {
    const server = await startMailServer({ password: 'right' })
    const as = (password: string) => createMailer({ ...server.address, user: 'ada', password }).send(LETTER)
    expect(await as('wrong')).toEqual({ result: 'failed', answer: '535 5.7.8 Authentication failed' })
    expect(await as('right')).toMatchObject({ result: 'sent' })
    await server.close()
  })

  test.each([true, false])(
    'says what is wrong with its certificate, with TLS from the first byte: %p',
    async (secure) => {
      const server = new SMTPServer({ key: fixture('key.pem'), cert: fixture('certificate.pem'), secure })
      server.on('error', () => {})
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      const { port } = server.server.address() as AddressInfo
      const mailer = createMailer({ ...mail.address, port, isSecure: secure, requiresTls: true })
      expect(await mailer.send(LETTER)).toMatchObject({
        result: 'failed',
        answer: expect.stringMatching(/certificate/),
      })
      await new Promise<void>((resolve) => server.close(resolve))
    },
  )

  test('is not awaited if TLS is required and not offered: no password is sent in the clear', async () => {
    const server = await startMailServer({ password: 'right' })
    const demanding = createMailer({ ...server.address, requiresTls: true, user: 'ada', password: 'right' })
    expect(await demanding.send(LETTER)).toMatchObject({ result: 'failed' })
    expect(server.passwords).toEqual([])
    await server.close()
  })
})

interface StageOptions {
  email?: string | null
  from?: string
  /** Undefined for real ones, of which each takes as long to render as the rest of a test. */
  documents?: DocumentRenderer | undefined
}

const STAND_IN: DocumentRenderer = {
  render: async () => ({ bytes: Buffer.from('%PDF-'), contentType: 'application/pdf', fileName: 'bill.pdf' }),
}

forEachEngine('the delivery of bills', (open) => {
  async function stage(given: StageOptions = {}) {
    const { email = 'bills@acme.example', from, documents } = { documents: STAND_IN, ...given }
    const db = await open()
    const time = { now: NOW }
    const clock = { now: () => time.now }
    const options = { db, clock, mail: { ...mail.address, from } }
    const processOn = (own: Database) => {
      const others = createServices({ ...options, db: own })
      return {
        ...others,
        bills: createBillsService({ ...others, ...options, db: own, ...(documents && { documents }) }),
      }
    }
    const services = processOn(db)
    const caller = await addReporter(services.people)
    await db.write(async (tx) => {
      await tx.update(tx.tables.organization).set({ name: 'Agents & Co', email: 'bills@agents.example' })
    })
    await services.projects.addClient(OPERATOR, { name: 'Acme', email })
    await services.projects.addProject(OPERATOR, { key: 'WEB', name: 'Acme web', client: 'Acme' })
    const bill = async (more: Record<string, unknown> = {}) => {
      await services.entries.reporting.reportEntry(
        reportBody({ model: 'no-such-model', project: 'WEB', reported_cost: 1234.5 }),
        caller,
      )
      return (await services.bills.send({ ...NOVEMBER, client: 'Acme', ...more }, { by: TALLY })).bill
    }
    const shown = async (number: string) =>
      JSON.parse(await services.bills.billText(await services.bills.getBill(number))) as Bill
    const deliveries = async (number: string) => (await shown(number)).deliveries
    return {
      ...services,
      processOn,
      options,
      time,
      bill,
      shown,
      deliveries,
      deliver: services.bills.deliveries.deliverDue,
    }
  }

  test('sends the client the bill as a PDF, from the organization', async () => {
    const { bill, deliver, shown } = await stage({ documents: undefined })
    const { bill: sent } = await bill({ tax: { name: 'VAT', percent: 19 }, purchase_order: 'PO-1187' })
    expect(await shown('2026-0001')).toMatchObject({
      delivery: 'queued',
      deliveries: [{ to: 'bills@acme.example', notice: 'sent', state: 'queued', attempts: 0 }],
    })
    await deliver()
    const [letter, ...others] = mail.letters
    expect(others).toEqual([])
    expect(letter).toMatchObject({ from: 'bills@agents.example', to: ['bills@acme.example'] })
    expect(letter!.headers.get('subject')).toBe('Bill 2026-0001 from Agents & Co')
    expect(letter!.headers.get('from')).toBe('"Agents & Co" <bills@agents.example>')
    expect(letter!.headers.get('message-id')).toBe(`<${sent.uid}.1@agents.example>`)
    expect(letter!.text).toContain('Bill 2026-0001 for Acme, dated 2026-12-01, is attached.')
    expect(letter!.text).toMatch(/Purchase order +PO-1187/)
    expect(letter!.text).toMatch(/Total +USD 1,469\.06/)
    expect(letter!.text).toMatch(/Due +2026-12-31/)
    expect(letter!.attachments).toMatchObject([{ name: expect.stringMatching(/\.pdf$/), type: 'application/pdf' }])
    expect(letter!.attachments[0]!.bytes.subarray(0, 5).toString()).toBe('%PDF-')
    expect(await shown('2026-0001')).toMatchObject({
      delivery: 'sent',
      deliveries: [{ state: 'sent', attempts: 1, answer: '250 Queued as 1', sent_at: new Date(NOW).toISOString() }],
    })
    await deliver()
    expect(mail.letters).toHaveLength(1)
  })

  test('goes to the given addresses, once each, with the given message', async () => {
    const { bill, deliver } = await stage({ from: 'no-reply@agents.example' })
    await bill({
      deliver_to: ['Ada@acme.example', 'ada@acme.example', 'bob@acme.example'],
      message: 'Dear Ada,\nhere.',
    })
    await deliver()
    expect(mail.letters.map(({ to }) => to[0]).sort()).toEqual(['ada@acme.example', 'bob@acme.example'])
    expect(mail.letters[0]!.text).toStartWith('Dear Ada,\nhere.\n\nBill 2026-0001')
    expect(mail.letters[0]!.headers.get('from')).toBe('"Agents & Co" <no-reply@agents.example>')
    expect(mail.letters[0]!.headers.get('reply-to')).toBe('bills@agents.example')
  })

  test('does not happen without recipients or without a mail server', async () => {
    const nobody = await stage({ email: null })
    await nobody.bill()
    await nobody.bill({ deliver_to: [] })
    expect(await nobody.shown('2026-0001')).toMatchObject({ delivery: 'none', deliveries: [] })
    await expect(nobody.bills.deliverBill('2026-0001', {}, TALLY)).rejects.toMatchObject({ code: 'validation_failed' })

    const { options, ...unset } = await stage()
    const withoutMail = createServices({ ...options, mail: undefined })
    await unset.bill({ deliver_to: [] })
    await expect(withoutMail.bills.deliverBill('2026-0001', {}, TALLY)).rejects.toMatchObject({
      code: 'mail_not_set_up',
    })
    await unset.db.write(async (tx) => {
      await tx.update(tx.tables.organization).set({ email: null })
    })
    await unset.bill()
    expect(await unset.shown('2026-0002')).toMatchObject({ delivery: 'none' })
    await expect(unset.bills.deliverBill('2026-0001', {}, TALLY)).rejects.toMatchObject({ code: 'mail_not_set_up' })
  })

  test('ends at once if the recipient is refused, and starts again for another one', async () => {
    const { bill, bills, deliver, deliveries, shown, time } = await stage({ email: 'unknown@acme.example' })
    await bill()
    await deliver()
    expect(await deliveries('2026-0001')).toMatchObject([
      { state: 'failed', attempts: 1, next_attempt_at: null, answer: '550 5.1.1 There is nobody of that name' },
    ])
    expect(await shown('2026-0001')).toMatchObject({ delivery: 'failed' })
    time.now += MINUTE
    await bills.deliverBill('2026-0001', { to: ['ada@acme.example'] }, TALLY)
    await deliver()
    expect(mail.letters).toMatchObject([{ to: ['ada@acme.example'] }])
    expect(await shown('2026-0001')).toMatchObject({ delivery: 'sent' })
    expect(await deliveries('2026-0001')).toHaveLength(2)
  })

  test('is tried again after growing pauses, and given up after a day and a half', async () => {
    const { bill, deliver, deliveries, events, time } = await stage({ email: 'later@acme.example' })
    await bill()
    const pauses: number[] = []
    for (;;) {
      await deliver()
      const [delivery] = await deliveries('2026-0001')
      if (delivery!.state !== 'queued') break
      pauses.push(Date.parse(delivery!.next_attempt_at!) - time.now)
      time.now += pauses.at(-1)! - 1
      await deliver()
      expect((await deliveries('2026-0001'))[0]!.attempts).toBe(pauses.length)
      time.now += 1
    }
    expect(pauses).toEqual([MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR, 12 * HOUR])
    expect(await deliveries('2026-0001')).toMatchObject([
      { state: 'failed', attempts: 8, answer: '451 4.3.0 Try again later' },
    ])
    const { views } = await events.readFull(
      { viewer: EVERYTHING, isAdmin: false },
      { after: 0, types: ['bill.delivery_failed'], limit: 10 },
    )
    expect(views).toMatchObject([
      {
        object: { name: '2026-0001' },
        details: {
          after: { recipient: 'later@acme.example', notice: 'sent', attempts: 8, answer: '451 4.3.0 Try again later' },
        },
      },
    ])
  })

  test('is repeated with the same Message-ID if the process died before it was recorded', async () => {
    const { bill, db, deliver, deliveries, time } = await stage()
    await bill()
    await deliver()
    // As the claim left it, when the process died after the mail server had taken the message.
    await db.write(async (tx) => {
      const { billDeliveries } = tx.tables
      await tx
        .update(billDeliveries)
        .set({ state: 'queued', sentAt: null, nextAttemptAt: time.now + 2 * MINUTE })
        .where(eq(billDeliveries.id, 1))
    })
    await deliver()
    expect(mail.letters).toHaveLength(1)
    time.now += 2 * MINUTE
    await deliver()
    expect(mail.letters).toHaveLength(2)
    expect(new Set(mail.letters.map(({ headers }) => headers.get('message-id'))).size).toBe(1)
    expect(await deliveries('2026-0001')).toMatchObject([{ state: 'sent', attempts: 2 }])
  })

  test('by two processes at once happens once', async () => {
    const { bill, db, deliver, processOn } = await stage()
    const other = processOn(await open({ sharing: db }))
    await bill({ deliver_to: Array.from({ length: 6 }, (_, index) => `ada-${index}@acme.example`) })
    await Promise.all([deliver(), other.bills.deliveries.deliverDue(), deliver()])
    expect(mail.letters.map(({ to }) => to[0]).sort()).toEqual(
      Array.from({ length: 6 }, (_, index) => `ada-${index}@acme.example`),
    )
  })

  test('continues with the next bill if the documents of one cannot be created', async () => {
    let broken = 1
    const documents: DocumentRenderer = {
      async render(...asked) {
        if (broken-- > 0) throw new Error('No ink.')
        return STAND_IN.render(...asked)
      },
    }
    const { bills, bill, deliveries, time } = await stage({ documents })
    await bill()
    time.now += 1
    await bill()
    const errors: unknown[] = []
    await bills.deliveries.deliverDue({ failed: (error) => errors.push(error) })
    expect(errors).toMatchObject([{ message: 'No ink.' }])
    expect(await deliveries('2026-0001')).toMatchObject([
      { state: 'queued', attempts: 1, answer: expect.stringContaining('could not be created') },
    ])
    expect(await deliveries('2026-0002')).toMatchObject([{ state: 'sent', attempts: 1 }])
    time.now += MINUTE
    await bills.deliveries.deliverDue()
    expect(await deliveries('2026-0001')).toMatchObject([{ state: 'sent', attempts: 2 }])
  })

  test('of a void notice goes only to the addresses that received the bill', async () => {
    const { bill, bills, deliver, deliveries, shown, time } = await stage({ documents: undefined })
    await bill({ deliver_to: ['ada@acme.example', 'unknown@acme.example'] })
    await deliver()
    await bills.voidBill('2026-0001', { reason: 'Wrong month.' }, TALLY)
    await deliver()
    expect(mail.letters).toHaveLength(2)
    const notice = mail.letters[1]!
    expect(notice.to).toEqual(['ada@acme.example'])
    expect(notice.headers.get('subject')).toBe('Bill 2026-0001 from Agents & Co has been voided')
    expect(notice.text).toMatch(/has been voided\. No payment is due\.\n\n +Reason +Wrong month\./)
    expect(notice.attachments[0]!.bytes.subarray(0, 5).toString()).toBe('%PDF-')

    time.now += HOUR
    await bill()
    await bills.voidBill('2026-0002', { reason: 'Wrong month.' }, TALLY)
    await deliver()
    expect(mail.letters).toHaveLength(2)
    expect(await deliveries('2026-0002')).toMatchObject([
      { state: 'failed', answer: 'Not sent because the bill is void.' },
    ])

    time.now += HOUR
    await bill()
    await deliver()
    await bills.voidBill('2026-0003', { reason: 'Wrong month.', deliver: false }, TALLY)
    await deliver()
    expect(mail.letters).toHaveLength(3)
    expect(await shown('2026-0003')).toMatchObject({ state: 'void', delivery: 'sent' })
  })

  test('adds no header and no recipient from a name', async () => {
    const { bill, db, deliver } = await stage()
    await db.write(async (tx) => {
      await tx.update(tx.tables.organization).set({ name: 'Évil\r\nBcc: eve@evil.example\r\n\r\n"<eve@evil.example>,' })
    })
    await bill()
    await deliver()
    const [letter] = mail.letters
    expect(letter!.to).toEqual(['bills@acme.example'])
    expect(letter!.headers.has('bcc')).toBe(false)
    expect(letter!.from).toBe('bills@agents.example')
    expect(letter!.headers.get('from')).toEndWith(' <bills@agents.example>')
    expect(letter!.attachments).toHaveLength(1)
  })

  test('begins as soon as a bill is sent while the job runs, and ends with it', async () => {
    const { bill, bills, deliveries } = await stage()
    const { errors, stop } = runJobs(bills.jobs)
    await bill()
    while (mail.letters.length === 0 && errors.length === 0) await Bun.sleep(5)
    await stop()
    expect(errors).toEqual([])
    expect(await deliveries('2026-0001')).toMatchObject([{ state: 'sent' }])
    await bill()
    expect(mail.letters).toHaveLength(1)
  })

  test('is recorded in the audit log when requested', async () => {
    const { audit, bill, bills } = await stage()
    await bill()
    await bills.deliverBill('2026-0001', { to: ['ada@acme.example'] }, TALLY)
    const { data: changes } = await audit.listChanges({ filter: {}, limit: 1, after: undefined })
    expect(changes).toMatchObject([{ action: 'bill.delivered', after: { to: ['ada@acme.example'], notice: 'sent' } }])
  })
})
