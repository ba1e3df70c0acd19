/** E-mails about alerts: each alert is turned into notifications once, for everyone whom its threshold names then. */
import { seesFees, viewerOf } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { foldName } from '../../lib/names.ts'
import type { NotificationsService, Recipient } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { type AlertRecord, type BudgetRecord, decimalOf, NO_FIRST_DAY, unitsOf } from '../spending/contract.ts'
import type { SpendingService } from '../spending/service.ts'
import { alertText, scopeText } from './alert-mail.ts'
import {
  type BudgetView,
  claimAlert,
  findBudget,
  findBudgetView,
  findProjectOfTicket,
  listRecipients,
  listUnnotified,
} from './store.ts'

/** Alerts from before a mail server was configured are not sent later on. */
const NEWS_MS = 24 * 3_600_000

const LOOK_EVERY_MS = 1_000
const ALERTS_AT_ONCE = 100

/** Nobody reads more, and a threshold must not be a way to send e-mails to everyone. */
const RECIPIENTS_LIMIT = 50

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  spending: Pick<SpendingService, 'periodsAt'>
  notifications: NotificationsService
}

export function createAlerts({ db, clock, organization, spending, notifications }: Dependencies) {
  async function linkTo({ uid }: BudgetRecord): Promise<string | undefined> {
    const publicUrl = await notifications.publicUrl()
    return publicUrl && `${publicUrl}/budgets/${uid}`
  }

  /** The key of its project, or of that of its ticket. */
  async function projectOf({ projectId, ticketId }: BudgetRecord): Promise<number | null> {
    return projectId ?? (ticketId === null ? null : findProjectOfTicket(db.read, ticketId))
  }

  /** Who is notified of an alert: all that its threshold names at this moment, but not people who are disabled, have turned alerts off, or may not see the fees in it. */
  async function recipientsOf(
    budget: BudgetRecord,
    { kind, percent }: Pick<AlertRecord, 'kind' | 'percent'>,
  ): Promise<Recipient[]> {
    const threshold = budget.thresholds.find(
      (each) => each.percent === percent && (each.forecast === true) === (kind === 'forecast'),
    )
    if (!threshold) return []
    const { people = [], emails = [], billing = false, leads = false } = threshold
    const known = await listRecipients(db.read, {
      people,
      emails: emails.map(foldName),
      billing,
      projectId: leads ? await projectOf(budget) : null,
      clientId: leads ? budget.clientId : null,
    })
    const accounts = new Set(known.map(({ email }) => email))
    const settings = await organization.settings()
    const seeing = await Promise.all(
      known.map((person) => budget.basis !== 'allocated' || seesFees(db.read, viewerOf(person), settings)),
    )
    return [
      ...known
        .filter((_, index) => seeing[index])
        .filter((person) => person.disabledAt === null && notifications.wants(person.notifications, 'budget_alerts'))
        .map(({ id, email }) => ({ userId: id, email })),
      ...emails.filter((email) => !accounts.has(foldName(email))).map((email) => ({ userId: null, email })),
    ].slice(0, RECIPIENTS_LIMIT)
  }

  /** For the alerts of one moment: each recipient is told about the highest threshold that concerns them. */
  async function notify(alerts: readonly AlertRecord[]): Promise<void> {
    const budget = await findBudget(db.read, alerts[0]!.budgetId)
    const view = budget && (await findBudgetView(db.read, budget.uid, 'everything'))
    const highest = new Map<string, { recipient: Recipient; alert: AlertRecord }>()
    for (const alert of [...alerts].sort((one, other) => one.percent - other.percent)) {
      if (!budget) continue
      for (const recipient of await recipientsOf(budget, alert)) highest.set(recipient.email, { recipient, alert })
    }
    const url = budget && (await linkTo(budget))
    const formats = await notifications.formats()
    const found = [...highest.values()].map(({ recipient, alert }) => ({
      recipient,
      key: alert.uid,
      ...alertText(budget!, alert, { scope: scopeOf(view!), url, formats }),
    }))
    await db.write(async (tx) => {
      for (const { id } of alerts) if (!(await claimAlert(tx, id, clock.now()))) return
      await notifications.queue(tx, 'budget_alerts', found)
    })
  }

  async function run(): Promise<void> {
    if (!(await notifications.canSend())) return
    const alerts = await listUnnotified(db.read, clock.now() - NEWS_MS, ALERTS_AT_ONCE)
    const together = Map.groupBy(alerts, ({ budgetId, firstDay, kind, at }) => `${budgetId} ${firstDay} ${kind} ${at}`)
    for (const group of together.values()) await notify(group)
  }

  return {
    run,

    /**
     * Sends a test alert to everyone whom a threshold names, at once. Returns the answer of the mail server for each of
     * them; undefined if it accepted the e-mail. Throws `mail_not_set_up`.
     */
    async sendTest(view: BudgetView): Promise<{ email: string; refusal: string | undefined }[]> {
      await notifications.requireMail()
      const { budget } = view
      const recipients = new Map<string, Recipient>()
      for (const { percent, forecast } of budget.thresholds) {
        const kind = forecast ? 'forecast' : 'spent'
        for (const recipient of await recipientsOf(budget, { kind, percent })) {
          recipients.set(recipient.email, recipient)
        }
      }
      const at = clock.now()
      const period = (await spending.periodsAt([budget.id], at)).get(budget.id)
      const { subject, body } = alertText(
        budget,
        {
          kind: 'spent',
          percent: 100,
          spent: decimalOf(budget, period ? unitsOf(period) : 0n),
          available: decimalOf(budget, period?.available ?? budget.amount),
          firstDay: period?.firstDay ?? NO_FIRST_DAY,
          at,
        },
        { scope: scopeOf(view), url: await linkTo(budget), formats: await notifications.formats() },
      )
      const outcomes = []
      for (const [index, recipient] of [...recipients.values()].entries()) {
        const refusal = await notifications.sendNow({
          recipient,
          key: `${budget.uid}.${at}.test.${index}`,
          subject: `[Test] ${subject}`,
          body: `This is a test: nothing has happened.\n\n${body}`,
        })
        outcomes.push({ email: recipient.email, refusal })
      }
      return outcomes
    },

    job: new Job({ name: 'budget-alerts', task: 'send an alert of a budget by e-mail', everyMs: LOOK_EVERY_MS, run }),
  }
}

/** What a budget counts, in words. */
export function scopeOf({ budget, client, project, ticket, manager }: BudgetView): string {
  return scopeText({
    client: client?.name ?? null,
    project: project?.key ?? null,
    ticket: ticket?.key ?? null,
    'agent manager': manager?.name ?? null,
    agent: budget.agentName,
    model: budget.model,
    label: budget.labelName === null ? null : `${budget.labelName}=${budget.labelValue}`,
  })
}
