/**
 * Delivery of bills by e-mail, through an outbox in the database: what is to be sent is written in the transaction that
 * sends the bill, and sent afterwards, at least once. A crash between sending and noting it down sends again, under the
 * same Message-ID.
 */

import type { Actor } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
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
const HOUR_MS = 60 * MINUTE_MS

/**
 * After each attempt that failed. A restarted mail server is back within minutes, a broken one within a working day;
 * after a day and a half nobody should rely on it any more.
 */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, 12 * HOUR_MS]

/**
 * For so long nobody else takes a delivery that is being sent: twice what sending may take, so that it never is sent by
 * two at once. One whose sender died is sent again after it.
 */
const CLAIM_MS = 2 * MINUTE_MS

/** What other processes queue is seen this soon; what this one queues, at once. A look costs microseconds. */
const LOOK_EVERY_MS = 3_000

/** A mail that is under way may end when the server stops; what takes longer is sent again at the next start. */
const STOP_MS = 5_000

/** What is attached to an e-mail. */
export interface Papers {
  render(
    view: BillView,
    format: 'pdf' | 'void-notice',
  ): Promise<{ bytes: Uint8Array; contentType: string; fileName: string }>
}

export interface DeliveryDependencies {
  db: Database
  clock: Clock
  /** Undefined where no mail server is named. */
  mailer: Mailer | undefined
  /** The sender of mails where it is not the organization. */
  from: string | undefined
  documents: Papers
}

export interface Queued {
  billId: number
  notice: Notice
  recipients: readonly string[]
  message?: string | null | undefined
  by: Actor
}

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

export function createDeliveries({ db, clock, mailer, from, documents }: DeliveryDependencies) {
  /** Of the job that runs, if one does. */
  let wake = () => {}

  const senderOf = async (reader: Reader) => from ?? (await getIssuer(reader)).email ?? undefined

  /** Writes into the outbox, with the transaction. Nothing where nobody is named or no mail can be sent. */
  async function queue(tx: Tx, { billId, notice, recipients, message, by }: Queued): Promise<void> {
    if (recipients.length === 0 || !mailer || (await senderOf(tx)) === undefined) return
    const now = clock.now()
    await insertDeliveries(
      tx,
      withoutDoubles(recipients).map((recipient) => ({
        billId,
        notice,
        recipient,
        message: message ?? null,
        nextAttemptAt: now,
        createdAt: now,
        createdBy: by.userId,
      })),
    )
    tx.afterCommit(() => wake())
  }

  async function attempt({ id, billId, notice, recipient, message }: DeliveryRecord) {
    const view = (await findBill(db.read, { id: billId }))!
    const sender = await senderOf(db.read)
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

  /** Sends the next one that is due, if there is one. What fails before it reaches the mail server is thrown. */
  async function deliverNext(): Promise<'done' | 'idle'> {
    const due = mailer && (await findDueDelivery(db.read, clock.now()))
    if (!due) return 'idle'
    const claimed = { ...due, attempts: due.attempts + 1 }
    // Another process was quicker: it sends this one.
    if (!(await db.write((tx) => claimDelivery(tx, due, { until: clock.now() + CLAIM_MS })))) return 'done'
    let outcome: Awaited<ReturnType<typeof attempt>>
    try {
      outcome = await attempt(claimed)
    } catch (error) {
      await giveBack(claimed, 'The e-mail could not be created. See the server log for details.', false)
      throw error
    }
    const { result, answer } = outcome
    if (result === 'sent') {
      await db.write((tx) => recordSentDelivery(tx, due.id, { answer, sentAt: clock.now() }))
    } else {
      await giveBack(claimed, answer, result === 'refused')
    }
    return 'done'
  }

  async function giveBack(delivery: DeliveryRecord, answer: string, isForGood: boolean): Promise<void> {
    const pauseMs = isForGood ? undefined : PAUSES_MS[delivery.attempts - 1]
    const nextAttemptAt = pauseMs === undefined ? null : clock.now() + pauseMs
    await db.write((tx) => recordFailedDelivery(tx, delivery, { answer, nextAttemptAt }))
  }

  /**
   * Sends all that are due, one after the other: they share a mail server, which would only be asked more at once.
   * Throws what fails before the mail server is asked; the others are left to the next call.
   */
  async function deliverDue(isGoingOn = () => true): Promise<void> {
    while (isGoingOn() && (await deliverNext()) === 'done');
  }

  return {
    queue,

    /** For a person who asks for an e-mail. Throws `mail_not_set_up`. */
    async requireMail(reader: Reader): Promise<void> {
      if (!mailer) throw mailNotSetUp()
      if ((await senderOf(reader)) === undefined) throw noSender()
    },

    /**
     * Of a bill that becomes void: what waits to bring it is given up, and those whom it may have reached are told,
     * if they shall be.
     */
    async followVoid(tx: Tx, billId: number, { tell, by }: { tell: boolean; by: Actor }): Promise<void> {
      const sent = await listDeliveries(tx, [billId])
      await withdrawDeliveries(tx, billId, 'Not sent because the bill is void.')
      const reached = sent.filter(
        ({ notice, attempts, state }) => notice === 'sent' && attempts > 0 && state !== 'failed',
      )
      if (tell) await queue(tx, { billId, notice: 'void', recipients: reached.map(({ recipient }) => recipient), by })
    },

    /** By bill, in the order in which they were queued. */
    async listOf(billIds: readonly number[]): Promise<Map<number, DeliveryRecord[]>> {
      return Map.groupBy(await listDeliveries(db.read, billIds), ({ billId }) => billId)
    },

    deliverDue,

    /** Answers what is wrong with the mail server; undefined where it takes mails, or none is named. */
    checkMail: async () => mailer?.greet(),

    /** How many mails wait, and how many were given up. */
    count: () => countDeliveries(db.read),

    /** Sends what is due until it is stopped. What fails is told, and tried again later. */
    start(onError: (error: unknown) => void): { stop(): Promise<void> } {
      if (!mailer) return { stop: async () => {} }
      let isStopped = false
      let isWoken = false
      let endRest = () => {}
      wake = () => {
        isWoken = true
        endRest()
      }
      const rest = () =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, isWoken ? 0 : LOOK_EVERY_MS)
          endRest = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      async function run(): Promise<void> {
        while (!isStopped) {
          isWoken = false
          try {
            await deliverDue(() => !isStopped)
          } catch (error) {
            if (!isStopped) onError(error)
          }
          if (!isStopped) await rest()
        }
      }
      const running = run()
      return {
        async stop() {
          isStopped = true
          endRest()
          await Promise.race([running, Bun.sleep(STOP_MS)])
        },
      }
    },
  }
}

/** Removes duplicate addresses, ignoring case. */
function withoutDoubles(recipients: readonly string[]): string[] {
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

/** The worst of those that were queued last: an address that was mistyped once is no worry after the next attempt. */
export function deliveryState(deliveries: readonly DeliveryRecord[] = []): BillHead['delivery'] {
  const last = deliveries.filter(({ createdAt }) => createdAt === deliveries.at(-1)!.createdAt)
  return (['failed', 'queued', 'sent'] as const).find((state) => last.some((each) => each.state === state)) ?? 'none'
}
