/** Reminds clients of overdue bills by e-mail, if the settings say so (docs/design/bills.md#reminders). */
import { TALLY } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { addDays, dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { decimalNumber } from '../../lib/money.ts'
import type { AuditService } from '../audit/service.ts'
import { balanceOf } from './balance.ts'
import { minorDigitsOf } from './currency.ts'
import type { createDeliveries } from './delivery.ts'
import { findBill } from './store/bills.ts'
import { getIssuer } from './store/issuer.ts'
import { claimReminder, listDueReminders, type ReminderDays } from './store/reminders.ts'

/** Reminders are sent from nine in the morning on, when a person would. */
const MORNING_MS = 9 * 3_600_000

/** Nobody notices whether a reminder arrives some minutes later. A look takes microseconds. */
const LOOK_EVERY_MS = 5 * 60_000

interface ReminderDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  deliveries: Pick<ReturnType<typeof createDeliveries>, 'queue' | 'canSend' | 'lastRecipients'>
}

export function createReminders({ db, clock, audit, deliveries }: ReminderDependencies) {
  /** Queues the e-mails in the transaction that notes the reminder, so that there is one whatever stops. */
  async function remind(id: number, recipients: string[], days: ReminderDays): Promise<void> {
    await db.write(async (tx) => {
      if (!(await claimReminder(tx, id, days))) return
      const { bill } = (await findBill(tx, { id }))!
      await deliveries.queue(tx, { billId: id, notice: 'reminder', recipients, by: TALLY })
      await audit.record(tx, TALLY, {
        action: 'bill.reminded',
        object: { id: bill.uid, name: bill.number },
        after: {
          to: recipients,
          balance: decimalNumber(balanceOf(bill), minorDigitsOf(bill.currency)),
          currency: bill.currency,
        },
      })
    })
  }

  async function remindDue(): Promise<void> {
    const { reminderDays, timeZone } = await getIssuer(db.read)
    if (reminderDays === null || !(await deliveries.canSend(db.read))) return
    const today = dayAt(clock.now() - MORNING_MS, timeZone)
    const days = { today, until: addDays(today, -reminderDays) }
    for (const { id, email } of await listDueReminders(db.read, days)) {
      const known = await deliveries.lastRecipients(id)
      const recipients = known.length > 0 || email === null ? known : [email]
      if (recipients.length > 0) await remind(id, recipients, days)
    }
  }

  return {
    remindDue,

    job: new Job({
      name: 'bill-reminders',
      task: 'remind a client of an overdue bill',
      everyMs: LOOK_EVERY_MS,
      run: remindDue,
    }),
  }
}
