/**
 * Notifies the owner of an account of failed sign-in attempts: with an entry in the audit log and the server log, and
 * an e-mail if a mail server is configured. Once per episode, and at most once a day.
 */

import { TALLY } from '../../../access/actor.ts'
import type { Database } from '../../../database/database.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { AuditService } from '../../audit/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { findUserByEmail, type User } from '../store/users.ts'

const DAY_MS = 86_400_000

export const SLOWED = 'user.sign_ins_slowed'
export const UNLOCKED = 'user.unlocked'

/** The outcome of sending an e-mail. */
export interface NoticeMailer {
  send(mail: {
    from: { name: string; address: string }
    to: string
    subject: string
    text: string
    messageId: string
    headers?: Record<string, string>
    attachments: []
  }): Promise<{ result: 'sent' | 'refused' | 'failed'; answer: string }>
}

export interface NoticeMail {
  mailer: NoticeMailer
  /** Undefined for the organization's address. */
  from: string | undefined
}

/** Server log entry for an account with repeated failed sign-in attempts. */
export interface SlowedAccount {
  user: User
  /** The result of the e-mail; undefined if none can be sent. */
  mail: { result: 'sent' | 'refused' | 'failed'; answer: string } | undefined
}

/** A mail server that restarts is back within these pauses. */
const PAUSES_MS = [10_000, 120_000]

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: OrganizationService
  mail?: NoticeMail | undefined
}

function textFor(user: User, organization: string): string {
  return [
    `Hello ${user.name},`,
    '',
    `There were ten failed sign-in attempts for your account ${user.email} on ${organization}'s Tally server.`,
    'Further attempts must now wait, longer each time, except in browsers in which you have signed in before.',
    '',
    'If this was you, wait a moment and try again, or ask an admin for a password reset link.',
    'If this was not you, none of the attempts succeeded. If you use this password only for Tally, you do not need to do anything.',
    '',
    'An admin can end the wait with this command on the server:',
    `  tally users unlock ${user.email}`,
  ].join('\n')
}

export function createSignInNotices({ db, audit, organization, clock, mail }: Dependencies) {
  const listeners: ((slowed: SlowedAccount) => void)[] = []
  const failureListeners: ((error: unknown) => void)[] = []

  /** Undefined if the person does not exist, or was already notified today. */
  async function keep(email: string): Promise<User | undefined> {
    return db.write(async (tx) => {
      const user = await findUserByEmail(tx, email)
      if (!user || user.disabledAt !== null) return undefined
      const latest = await audit.findLatest(user.uid, [SLOWED, UNLOCKED], tx)
      if (latest?.action === SLOWED && Math.abs(clock.now() - latest.at) < DAY_MS) return undefined
      await audit.record(tx, TALLY, { action: SLOWED, object: { id: user.uid, name: user.email } })
      return user
    })
  }

  async function send(user: User): Promise<SlowedAccount['mail']> {
    const { name, email } = await organization.settings()
    const address = mail?.from ?? email
    if (!mail || !address) return undefined
    const message = {
      from: { name, address },
      to: user.email,
      subject: `Failed sign-in attempts for your Tally account`,
      text: textFor(user, name),
      messageId: `<${user.uid}.${clock.now()}@${address.slice(address.lastIndexOf('@') + 1)}>`,
      attachments: [] as [],
    }
    let outcome = await mail.mailer.send(message)
    for (const pauseMs of PAUSES_MS) {
      if (outcome.result !== 'failed') break
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      outcome = await mail.mailer.send(message)
    }
    return outcome
  }

  return {
    /** Notifies in the background: an attacker must not learn from the response time whether the account exists. */
    notice(email: string): void {
      const work = async () => {
        const user = await keep(email)
        if (!user) return
        const outcome = await send(user)
        for (const listener of listeners) listener({ user, mail: outcome })
      }
      work().catch((error) => {
        for (const listener of failureListeners) listener(error)
      })
    },

    /**
     * Calls `onSlowed` for each account with failed attempts, and `onError` if the notice could not be saved or sent.
     */
    watch(onSlowed: (slowed: SlowedAccount) => void, onError: (error: unknown) => void): void {
      listeners.push(onSlowed)
      failureListeners.push(onError)
    },
  }
}
