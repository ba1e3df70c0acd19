/**
 * Delivery of bills by e-mail, through an outbox in the database: deliveries are queued in the transaction that sends
 * the bill, and sent afterwards, at least once. If Tally crashes after sending and before recording it, the mail is
 * sent again with the same Message-ID.
 */

import type { Actor } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { Job, type Turn } from '../../lib/jobs.ts'
import { pauseAfter } from '../../lib/mail-retries.ts'
import type { EventsService } from '../events/service.ts'
import { balanceOf } from './balance.ts'
import { mailOf, type Notice } from './delivery-mail.ts'
import type { Mailer } from './delivery-mailer.ts'
import type { Bill, BillDocument, BillHead } from './schema.ts'
import { type BillView, findBill, getDocument } from './store/bills.ts'
import {
  claimDelivery,
  countDeliveries,
  type DeliveryRecord,
  findDueDelivery,
  insertDeliveries,
  listDeliveries,
  recordFailedDelivery,
  recordSentDelivery,
  withdrawDeliveries,
} from './store/deliveries.ts'
import { getIssuer } from './store/issuer.ts'

const MINUTE_MS = 60_000

/**
 * How long a claimed delivery is reserved for its sender: twice the maximum duration of sending, so that it is never
 * sent by two processes at once. If its sender has died, it is sent again afterwards.
 */
const CLAIM_MS = 2 * MINUTE_MS

/**
 * Interval to check for mails that other processes queued; those of this process are sent at once. A check takes
 * microseconds.
 */
const LOOK_EVERY_MS = 3_000

/** Renders attachments. */
export interface DocumentRenderer {
  render(
    view: BillView,
    format: 'pdf' | 'void-notice',
  ): Promise<{ bytes: Uint8Array; contentType: string; fileName: string }>
}

export interface DeliveryDependencies {
  db: Database
  clock: Clock
  /** Undefined if no mail server is configured. */
  mailer: Mailer | undefined
  /** The sender's address, if it is not the organization's. */
  from: string | undefined
  documents: DocumentRenderer
  events: Pick<EventsService, 'record'>
}

export interface Queued {
  billId: number
  notice: Notice
  recipients: readonly string[]
  message?: string | null | undefined
  by: Actor
}

const NOT_CREATED = {
  result: 'failed',
  answer: 'The e-mail could not be created. See the server log for details.',
} as const

/** Of a reminder that waited while the bill was paid or voided. */
const NOT_OVERDUE = { result: 'refused', answer: 'Not sent because the bill is no longer overdue.' } as const

function mailNotSetUp(): Problem {
  return new Problem(
    'mail_not_set_up',
    'No mail server is configured. Set TALLY_SMTP_URL and restart Tally, or download the bill and send it yourself.',
  )
}

function noSender(): Problem {
  return new Problem(
    'mail_not_set_up',
    'No sender address is configured. Set the organization’s e-mail address in its settings, or set TALLY_SMTP_FROM and restart Tally.',
  )
}

function rethrow(error: unknown): never {
  throw error
}

export function createDeliveries({ db, clock, mailer, from, documents, events }: DeliveryDependencies) {
  const senderOf = async (reader: Reader) => from ?? (await getIssuer(reader)).email ?? undefined

  /** Adds to the outbox within the transaction. Does nothing without recipients, or if mail can't be sent. */
  async function queue(tx: Tx, { billId, notice, recipients, message, by }: Queued): Promise<void> {
    if (recipients.length === 0 || !mailer || (await senderOf(tx)) === undefined) return
    const now = clock.now()
    await insertDeliveries(
      tx,
      withoutDuplicates(recipients).map((recipient) => ({
        billId,
        notice,
        recipient,
        message: message ?? null,
        nextAttemptAt: now,
        createdAt: now,
        createdBy: by.userId,
      })),
    )
    tx.afterCommit(() => job.wake())
  }

  async function attempt({ id, billId, notice, recipient, message }: DeliveryRecord) {
    const view = (await findBill(db.read, { id: billId }))!
    const sender = await senderOf(db.read)
    if (notice === 'reminder' && balanceOf(view.bill) <= 0n) return NOT_OVERDUE
    if (sender === undefined) return { result: 'failed', answer: noSender().detail } as const
    return mailer!.send(
      mailOf({
        id,
        notice,
        to: recipient,
        message,
        from: sender,
        view,
        document: parseExactJson(await getDocument(db.read, billId)) as BillDocument,
        attachment: await documents.render(view, notice === 'void' ? 'void-notice' : 'pdf'),
      }),
    )
  }

  /** Sends the next mail that is due, if there is one. */
  async function deliverNext(failed: Turn['failed']): Promise<'done' | 'idle'> {
    const due = mailer && (await findDueDelivery(db.read, clock.now()))
    if (!due) return 'idle'
    const claimed = { ...due, attempts: due.attempts + 1 }
    // Another process has claimed this delivery.
    if (!(await db.write((tx) => claimDelivery(tx, due, { until: clock.now() + CLAIM_MS })))) return 'done'
    const outcome = await attempt(claimed).catch((error: unknown) => ({ ...NOT_CREATED, error }))
    const { result, answer } = outcome
    if (result === 'sent') {
      await db.write((tx) => recordSentDelivery(tx, due.id, { answer, sentAt: clock.now() }))
    } else {
      await recordFailure(claimed, answer, result === 'refused')
    }
    if ('error' in outcome) failed(outcome.error)
    return 'done'
  }

  async function recordFailure(delivery: DeliveryRecord, answer: string, isForGood: boolean): Promise<void> {
    const pauseMs = isForGood ? undefined : pauseAfter(delivery.attempts)
    const nextAttemptAt = pauseMs === undefined ? null : clock.now() + pauseMs
    await db.write(async (tx) => {
      const isRecorded = await recordFailedDelivery(tx, delivery, { answer, nextAttemptAt })
      // A reminder of a bill that was paid meanwhile is not needed any more.
      if (!isRecorded || nextAttemptAt !== null || answer === NOT_OVERDUE.answer) return
      const { bill } = (await findBill(tx, { id: delivery.billId }))!
      const { recipient, notice, attempts } = delivery
      await events.record(tx, [
        {
          type: 'bill.delivery_failed',
          object: { id: bill.uid, name: bill.number },
          after: { recipient, notice, attempts, answer },
        },
      ])
    })
  }

  /**
   * Sends all mails that are due, one after the other: they share a mail server, which would only get more load at
   * once. A mail that cannot be created is reported, and does not hold up the others.
   */
  async function deliverDue({
    signal,
    failed = rethrow,
  }: Partial<Pick<Turn, 'signal' | 'failed'>> = {}): Promise<void> {
    while (!signal?.aborted && (await deliverNext(failed)) === 'done');
  }

  const job = new Job({ name: 'bill-delivery', task: 'deliver a bill', everyMs: LOOK_EVERY_MS, run: deliverDue })

  return {
    queue,

    /** Whether e-mails can be sent at all. */
    canSend: async (reader: Reader): Promise<boolean> => mailer !== undefined && (await senderOf(reader)) !== undefined,

    /** Where the bill itself was last sent to, as far as the mail server took it. */
    async lastRecipients(billId: number): Promise<string[]> {
      const sent = (await listDeliveries(db.read, [billId])).filter(
        ({ notice, state }) => notice === 'sent' && state === 'sent',
      )
      return sent.filter(({ createdAt }) => createdAt === sent.at(-1)!.createdAt).map(({ recipient }) => recipient)
    },

    /** For a person who requests an e-mail. Throws `mail_not_set_up`. */
    async requireMail(reader: Reader): Promise<void> {
      if (!mailer) throw mailNotSetUp()
      if ((await senderOf(reader)) === undefined) throw noSender()
    },

    /**
     * Cancels the queued mails of a bill that is voided, and, with `notify`, queues a notice for recipients who may
     * have received it.
     */
    async followVoid(tx: Tx, billId: number, { notify, by }: { notify: boolean; by: Actor }): Promise<void> {
      const sent = await listDeliveries(tx, [billId])
      await withdrawDeliveries(tx, billId, 'Not sent because the bill is void.')
      const reached = sent.filter(
        ({ notice, attempts, state }) => notice === 'sent' && attempts > 0 && state !== 'failed',
      )
      if (notify) await queue(tx, { billId, notice: 'void', recipients: reached.map(({ recipient }) => recipient), by })
    },

    /** By bill, in the order of queueing. */
    async listOf(billIds: readonly number[]): Promise<Map<number, DeliveryRecord[]>> {
      return Map.groupBy(await listDeliveries(db.read, billIds), ({ billId }) => billId)
    },

    deliverDue,

    /** Returns the error of the mail server; undefined if it accepts mails, or if none is configured. */
    checkMail: async () => mailer?.check(),

    /** The number of queued and of failed mails. */
    count: () => countDeliveries(db.read),

    job,
  }
}

/** Removes duplicate addresses, ignoring case. */
function withoutDuplicates(recipients: readonly string[]): string[] {
  return [...new Map(recipients.map((recipient) => [recipient.toLowerCase(), recipient])).values()]
}

export function deliveryBody(delivery: DeliveryRecord): Bill['deliveries'][number] {
  return {
    to: delivery.recipient,
    notice: delivery.notice,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: timestampOrNull(delivery.nextAttemptAt),
    answer: delivery.answer,
    created_at: timestamp(delivery.createdAt),
    sent_at: timestampOrNull(delivery.sentAt),
  }
}

/**
 * The worst state of the most recently queued deliveries: a mistyped address no longer matters after the next attempt.
 * Reminders do not count, because they say nothing of whether the client has the bill.
 */
export function deliveryState(all: readonly DeliveryRecord[] = []): BillHead['delivery'] {
  const deliveries = all.filter(({ notice }) => notice !== 'reminder')
  const last = deliveries.filter(({ createdAt }) => createdAt === deliveries.at(-1)!.createdAt)
  return (['failed', 'queued', 'sent'] as const).find((state) => last.some((each) => each.state === state)) ?? 'none'
}
