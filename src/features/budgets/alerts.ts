/**
 * E-mails about alerts, through an outbox in the database: an alert's e-mails are queued once, and each is sent at least
 * once, with growing pauses after failures.
 */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { periodically } from '../../lib/periodically.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { NoticeMail } from '../people/service.ts'
import type { AlertRecord, BudgetRecord } from '../spending/service.ts'
import { alertText, scopeText } from './alert-mail.ts'
import {
  type BudgetView,
  claimAlert,
  claimMail,
  findAlert,
  findBudget,
  findBudgetView,
  findDueMail,
  finishMail,
  insertMails,
  listRecipients,
  listUnnotified,
  type MailRecord,
} from './store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** After each failed attempt. An alert of two days ago is no longer news. */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, 24 * HOUR_MS]

/** Longer than sending takes: a mail whose sender has died is sent again after it. */
const CLAIM_MS = 2 * MINUTE_MS

/** Alerts from before a mail server was configured are not sent later on. */
const NEWS_MS = 24 * HOUR_MS

const LOOK_EVERY_MS = 1_000
const ALERTS_AT_ONCE = 100

/** Nobody reads more, and a threshold must not be a way to send e-mails to everybody. */
const RECIPIENTS_LIMIT = 50

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  mail: NoticeMail | undefined
}

export function createAlerts({ db, clock, organization, mail }: Dependencies) {
  let publicUrl: string | undefined

  const senderOf = async () => mail && (mail.from ?? (await organization.settings()).email ?? undefined)

  /** Who gets an e-mail about an alert: all that its threshold names, at this moment. */
  async function recipientsOf(
    budget: BudgetRecord,
    { kind, percent }: Pick<AlertRecord, 'kind' | 'percent'>,
  ): Promise<string[]> {
    const threshold = budget.thresholds.find(
      (each) => each.percent === percent && (each.forecast === true) === (kind === 'forecast'),
    )
    if (!threshold) return []
    const { people = [], emails = [], billing = false, leads = false } = threshold
    const known = await listRecipients(db.read, {
      people,
      billing,
      projectId: leads ? budget.projectId : null,
      clientId: leads ? budget.clientId : null,
    })
    return [...new Set([...known, ...emails])].slice(0, RECIPIENTS_LIMIT)
  }

  /** Queues one e-mail per recipient for the alerts of one moment: about the highest threshold that concerns them. */
  async function queue(alerts: readonly AlertRecord[]): Promise<void> {
    const budget = await findBudget(db.read, alerts[0]!.budgetId)
    const mails = new Map<string, number>()
    for (const alert of [...alerts].sort((one, other) => one.percent - other.percent)) {
      if (budget) for (const recipient of await recipientsOf(budget, alert)) mails.set(recipient, alert.id)
    }
    const now = clock.now()
    await db.write(async (tx) => {
      for (const { id } of alerts) if (!(await claimAlert(tx, id, now))) return
      await insertMails(
        tx,
        [...mails].map(([recipient, alertId]) => ({ recipient, alertId })),
        now,
      )
    })
  }

  async function queueAll(): Promise<void> {
    if ((await senderOf()) === undefined) return
    const alerts = await listUnnotified(db.read, clock.now() - NEWS_MS, ALERTS_AT_ONCE)
    const together = Map.groupBy(alerts, ({ budgetId, firstDay, kind, at }) => `${budgetId} ${firstDay} ${kind} ${at}`)
    for (const group of together.values()) await queue(group)
  }

  async function send({ id, alertId, recipient, attempts }: MailRecord, from: string): Promise<void> {
    const alert = await findAlert(db.read, alertId)
    const view = alert && (await viewOf(alert.budgetId))
    if (!alert || !view) return
    const { name } = await organization.settings()
    const url = publicUrl && `${publicUrl}/budgets/${view.budget.uid}`
    const outcome = await mail!.mailer.send({
      from: { name, address: from },
      to: recipient,
      ...alertText(view.budget, alert, { organization: name, scope: scopeOf(view), url }),
      messageId: `<${alert.uid}.${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      attachments: [],
    })
    const now = clock.now()
    const pauseMs = PAUSES_MS[attempts]
    await db.write((tx) =>
      finishMail(tx, id, {
        attempts: attempts + 1,
        answer: outcome.answer,
        ...(outcome.result === 'sent'
          ? { state: 'sent', sentAt: now, nextAttemptAt: null }
          : outcome.result === 'refused' || pauseMs === undefined
            ? { state: 'failed', sentAt: null, nextAttemptAt: null }
            : { state: 'queued', sentAt: null, nextAttemptAt: now + pauseMs }),
      }),
    )
  }

  async function viewOf(budgetId: number): Promise<BudgetView | undefined> {
    const budget = await findBudget(db.read, budgetId)
    return budget && findBudgetView(db.read, budget.uid, 'everything')
  }

  async function sendAll(): Promise<void> {
    const from = await senderOf()
    if (from === undefined) return
    for (;;) {
      const now = clock.now()
      // Without a transaction: this looks every second, and nearly always there is nothing.
      const due = await findDueMail(db.read, now)
      if (!due) return
      if (await db.write((tx) => claimMail(tx, due, now + CLAIM_MS))) await send(due, from)
    }
  }

  async function run(): Promise<void> {
    await queueAll()
    await sendAll()
  }

  return {
    run,
    recipientsOf,

    /** Whether e-mails can be sent. */
    canSend: async () => (await senderOf()) !== undefined,

    /** Sends a test alert to somebody at once. Returns the answer of the mail server if it was not sent. */
    async sendTest(view: BudgetView, recipient: string): Promise<string | undefined> {
      const from = (await senderOf())!
      const { name } = await organization.settings()
      const now = clock.now()
      const alert = {
        kind: 'spent',
        percent: 100,
        spent: '0',
        available: '0',
        firstDay: '0001-01-01',
        at: now,
      } as const
      const { subject, text } = alertText(view.budget, alert, {
        organization: name,
        scope: scopeOf(view),
        url: undefined,
      })
      const outcome = await mail!.mailer.send({
        from: { name, address: from },
        to: recipient,
        subject: `[Test] ${subject}`,
        text: `This is a test: nothing has happened.\n\n${text}`,
        messageId: `<${view.budget.uid}.${now}.test@${from.slice(from.lastIndexOf('@') + 1)}>`,
        attachments: [],
      })
      return outcome.result === 'sent' ? undefined : outcome.answer
    },

    start(options: { publicUrl: string | undefined }, onError: (error: unknown) => void) {
      publicUrl = options.publicUrl
      return periodically(run, LOOK_EVERY_MS, onError)
    },
  }
}

function scopeOf({ budget, client, project, ticket, manager }: BudgetView): string {
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
