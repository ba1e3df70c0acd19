/**
 * E-mails that people have chosen to be sent (docs/design/notifications.md), through an outbox in the database: what
 * somebody is told is queued in the transaction that finds it, all that waits for a recipient is in one e-mail, at most
 * one an hour, and each e-mail is sent at least once.
 */
import type { Database, Tx } from '../../database/database.ts'
import { type NotificationTopic, USUAL_NOTIFICATIONS } from '../../database/schema/values.ts'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { pauseAfter } from '../../lib/mail-retries.ts'
import { type Formats, formatsOf } from '../../shared/locales.ts'
import type { EventsService } from '../events/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { NoticeMail, User } from '../people/service.ts'
import {
  claimEmail,
  deleteEmailsBefore,
  deleteNotificationsOf,
  type EmailRecord,
  findDueEmail,
  finishEmail,
  insertEmail,
  insertNotifications,
  listNotificationsOf,
  listReadyRecipients,
} from './store.ts'
import { choiceUrl, emailText } from './text.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Between two e-mails to a recipient. */
const REST_MS = HOUR_MS

/** Longer than sending takes: an e-mail whose sender has died is sent again after it. */
const CLAIM_MS = 2 * MINUTE_MS

/** For questions about what was sent; the figures themselves are in Tally. */
const KEPT_MS = 30 * DAY_MS

const LOOK_EVERY_MS = 1_000
const RECIPIENTS_AT_ONCE = 100
const DELETED_AT_ONCE = 200

/** Who is told something. */
export interface Recipient {
  /** Null for an address without an account. */
  userId: number | null
  email: string
}

export interface Notification {
  recipient: Recipient
  /** What it is about: nobody is told twice under the same topic and key. */
  key: string
  subject: string
  body: string
}

/** An e-mail about the operation of Tally, which nobody can turn off. */
export interface OperationalEmail {
  /** What it is about: nobody is sent two with one key. A part of its Message-ID. */
  key: string
  subject: string
  /** @param organization its name */
  textFor(organization: string, formats: Formats): string
}

interface Dependencies {
  db: Database
  clock: Clock
  events: Pick<EventsService, 'recordOnce' | 'unrecorded'>
  organization: Pick<OrganizationService, 'settings' | 'publicUrl'>
  /** Undefined if no mail server is configured. */
  mail: NoticeMail | undefined
}

export type NotificationsService = ReturnType<typeof createNotificationsService>

export function createNotificationsService({ db, clock, events, organization, mail }: Dependencies) {
  const senderOf = async () => mail && (mail.from ?? (await organization.settings()).email ?? undefined)

  const formats = async () => formatsOf((await organization.settings()).locale)

  async function deliver(
    to: string,
    { contents, messageId }: { contents: Parameters<typeof emailText>[0]; messageId: string },
    { from, isPerson }: { from: string; isPerson: boolean },
  ) {
    const { name } = await organization.settings()
    const publicUrl = await organization.publicUrl()
    return mail!.mailer.send({
      from: { name, address: from },
      to,
      ...emailText(contents, { organization: name, publicUrl, isPerson }),
      messageId: `<${messageId}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      headers: {
        'Auto-Submitted': 'auto-generated',
        ...(isPerson && publicUrl !== undefined && { 'List-Unsubscribe': `<${choiceUrl(publicUrl)}>` }),
      },
      attachments: [],
    })
  }

  async function send({ id, recipient, attempts, createdAt }: EmailRecord, from: string): Promise<void> {
    const contents = await listNotificationsOf(db.read, id)
    const now = clock.now()
    if (contents.length === 0) {
      const ended = { state: 'failed', attempts, nextAttemptAt: null, endedAt: now } as const
      return db.write((tx) => finishEmail(tx, id, { ...ended, answer: 'The recipient was erased.' }))
    }
    const isPerson = contents.some(({ userId }) => userId !== null)
    const { result, answer } = await deliver(
      recipient,
      // The same for every attempt, so that mail programs detect duplicates.
      { contents, messageId: `notification.${id}.${createdAt}` },
      { from, isPerson },
    )
    const pauseMs = result === 'failed' ? pauseAfter(attempts + 1) : undefined
    const common = { attempts: attempts + 1, answer }
    await db.write((tx) =>
      finishEmail(
        tx,
        id,
        result === 'failed' && pauseMs !== undefined
          ? { ...common, state: 'queued', nextAttemptAt: clock.now() + pauseMs, endedAt: null }
          : { ...common, state: result === 'sent' ? 'sent' : 'failed', nextAttemptAt: null, endedAt: clock.now() },
      ),
    )
  }

  async function run(signal?: AbortSignal): Promise<void> {
    const from = await senderOf()
    if (from === undefined) return
    const now = clock.now()
    for (const recipient of await listReadyRecipients(db.read, { now, restMs: REST_MS, limit: RECIPIENTS_AT_ONCE })) {
      await db.write((tx) => insertEmail(tx, recipient, now))
    }
    // Without a transaction: this looks every second, and nearly always there is nothing.
    for (let due = await findDueEmail(db.read, now); due; due = await findDueEmail(db.read, clock.now())) {
      if (signal?.aborted) return
      const claimed = due
      if (await db.write((tx) => claimEmail(tx, claimed, clock.now() + CLAIM_MS))) await send(claimed, from)
    }
  }

  async function tidy(): Promise<void> {
    const before = clock.now() - KEPT_MS
    while ((await db.write((tx) => deleteEmailsBefore(tx, before, DELETED_AT_ONCE))) === DELETED_AT_ONCE);
  }

  const sending = new Job({
    name: 'notifications',
    task: 'send notifications by e-mail',
    everyMs: LOOK_EVERY_MS,
    run: ({ signal }) => run(signal),
  })

  return {
    /**
     * What links in e-mails begin with; undefined if no public URL is set. Never the address of a request, which its
     * sender chooses.
     */
    publicUrl: organization.publicUrl,

    /** How e-mails write days and numbers. */
    formats,

    /** Whether e-mails can be sent. Without, nothing should be queued: it would be old news later. */
    canSend: async () => (await senderOf()) !== undefined,

    /** Throws `mail_not_set_up` if no e-mail can be sent. */
    async requireMail(): Promise<void> {
      if ((await senderOf()) !== undefined) return
      throw new Problem(
        'mail_not_set_up',
        'No mail server or sender address is configured. Set TALLY_SMTP_URL, and TALLY_SMTP_FROM or the organization’s e-mail address, and restart Tally.',
      )
    },

    /** Whether somebody is sent e-mails about a topic; null if they have not chosen. */
    wants: (chosen: readonly NotificationTopic[] | null, topic: NotificationTopic): boolean =>
      (chosen ?? USUAL_NOTIFICATIONS).includes(topic),

    /** Tells recipients something, once the transaction is committed. */
    async queue(tx: Tx, topic: NotificationTopic, notifications: readonly Notification[]): Promise<void> {
      const createdAt = clock.now()
      await insertNotifications(
        tx,
        notifications.map(({ recipient: { userId, email }, ...content }) => ({
          ...content,
          topic,
          userId,
          recipient: email,
          createdAt,
        })),
      )
    },

    /** Sends an e-mail at once, whatever else was sent. Returns the answer of the mail server if it did not accept it. */
    async sendNow({ recipient, key, subject, body }: Notification): Promise<string | undefined> {
      const isPerson = recipient.userId !== null
      const from = (await senderOf())!
      const contents = [{ subject, body }]
      const outcome = await deliver(recipient.email, { contents, messageId: key }, { from, isPerson })
      return outcome.result === 'sent' ? undefined : outcome.answer
    },

    /** Whether a mail server is configured. */
    hasMailServer: mail !== undefined,

    /**
     * Sends an e-mail about the operation of Tally to each of these people, once, however often it is called with its key and
     * by however many servers one after the other. Returns whether nothing is left: what the mail server does not take
     * at the moment is for the next call.
     */
    async sendToEach(people: readonly Pick<User, 'uid' | 'email'>[], email: OperationalEmail): Promise<boolean> {
      const from = await senderOf()
      if (from === undefined) return true
      const { name, locale } = await organization.settings()
      const keyOf = ({ uid }: Pick<User, 'uid'>) => `e-mail ${email.key}.${uid}`
      const unsent = new Set(await events.unrecorded(people.map(keyOf)))
      let isDone = true
      for (const person of people.filter((each) => unsent.has(keyOf(each)))) {
        const { result } = await mail!.mailer.send({
          from: { name, address: from },
          to: person.email,
          subject: email.subject,
          text: email.textFor(name, formatsOf(locale)),
          // The same for every attempt, so that mail programs detect duplicates.
          messageId: `<${email.key}.${person.uid}@${from.slice(from.lastIndexOf('@') + 1)}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          attachments: [],
        })
        if (result === 'failed') isDone = false
        else await db.write((tx) => events.recordOnce(tx, keyOf(person), []))
      }
      return isDone
    },

    /** Deletes what a person was sent, and what waits for them, under any of their addresses. */
    forget: (tx: Tx, person: { userId: number; emails: string[] }): Promise<void> => deleteNotificationsOf(tx, person),

    run,
    tidy,

    jobs: [
      ...(mail ? [sending] : []),
      new Job({ name: 'notification-cleanup', task: 'remove old notifications', everyMs: DAY_MS, run: tidy }),
    ],
  }
}
