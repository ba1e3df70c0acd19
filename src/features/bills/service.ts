/** Bills: from usage to a numbered document that is sent once (docs/design/bills.md). */
import type { Actor } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { pageAfter } from '../../database/sorting.ts'
import { type Issue, notFound, validationFailed } from '../../errors.ts'
import { dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseExactJson, parseRawJson } from '../../lib/exact-json.ts'
import { isId } from '../../lib/id.ts'
import type { Rows } from '../../schema/lists.ts'
import type { AuditService } from '../audit/service.ts'
import type { EntriesService } from '../entries/service.ts'
import type { EventsService } from '../events/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import { billedAmountBody, createBilledAmounts } from './billed-amounts.ts'
import { type BillDraft, createComposition } from './composition.ts'
import { remainingOf } from './credit-note.ts'
import { createCreditNotes } from './credit-note-sending.ts'
import { minorDigitsOf } from './currency.ts'
import { createDeliveries, type DocumentRenderer, deliveryBody, deliveryState } from './delivery.ts'
import { createMailer, type MailServer } from './delivery-mailer.ts'
import { createDocuments, type DocumentFormat, type RenderedDocument } from './documents/documents.ts'
import { createBillDraftsService } from './drafts/service.ts'
import { createEntryRelease } from './entry-release.ts'
import { findInconsistentBills } from './integrity.ts'
import { createPayments, mayBeCredited } from './payments.ts'
import type { BillListFilter } from './query.ts'
import { noRecipient, previewChanged } from './refusals.ts'
import { createReminders } from './reminders.ts'
import { issuesOfRecipients } from './request.ts'
import { createRun } from './run.ts'
import type {
  Bill,
  BillDelivery,
  BillDocument,
  BillHead,
  BillPayment,
  BillRequest,
  BillSending,
  BillTotals,
  BillVoiding,
  CreditNoteRequest,
  PaymentReversal,
  UsualTerms,
} from './schema.ts'
import { type BillSubmission, createSending, findReplayed } from './sending.ts'
import type { BILL_SORTS } from './sorts.ts'
import {
  BILL_KEYS,
  type BillFilter,
  type BillView,
  countBills,
  findBill,
  getDocument,
  insertBillKey,
  listBills,
  listFollowers,
  listReferences,
  sumBills,
  sumCredits,
  updateBillState,
} from './store/bills.ts'
import { getIssuer } from './store/issuer.ts'
import { listPayments } from './store/payments.ts'
import { listLastBills } from './store/run.ts'
import { usualTerms } from './usual-terms.ts'
import { billHead, billText, paymentBody, remainingBody, totalsBody } from './wire.ts'

export type { BilledAmount, BilledCost } from './billed-amounts.ts'
export type { BillSubmission, BillView, DocumentFormat }
export { billedAmountBody }

export interface BillsDependencies {
  db: Database
  clock: Clock
  events: Pick<EventsService, 'record'>
  audit: AuditService
  projects: Pick<ProjectsService, 'getClient' | 'showProject' | 'showTicket' | 'requireKnown'>
  entries: Pick<EntriesService, 'billing'>
  /** Replaces the default renderer of documents. */
  documents?: DocumentRenderer
  /** The mail server for bills; without `from`, mails are sent from the organization's address. */
  mail?: (MailServer & { from: string | undefined }) | undefined
}

/** If an entry changes between composing and writing a bill, sending starts over, up to this number of attempts. */
const ATTEMPTS = 5

interface BillPreviewed {
  digest: string
  /** Whether nothing can be recorded for today or later in the period. */
  period_is_over: boolean
  document: BillDocument
}

/** A bill, and as it is in a list. */
export interface ListedBill {
  view: BillView
  head: BillHead
}

export interface Sent {
  bill: BillView
  /** Whether this is the response to an earlier call with the same Idempotency-Key. */
  replayed: boolean
}

export { createMailer }

export type BillsService = ReturnType<typeof createBillsService>

export function createBillsService({
  db,
  clock,
  events,
  audit,
  projects,
  entries,
  documents: papers,
  mail,
}: BillsDependencies) {
  const mailer = mail && createMailer(mail)
  const documents = createDocuments({ db })
  const deliveries = createDeliveries({ db, clock, mailer, from: mail?.from, documents: papers ?? documents, events })
  const { billing } = entries
  const compose = createComposition({ db, billing, projects })
  const run = createRun({ db, clock, billing })
  const reminders = createReminders({ db, clock, audit, deliveries })
  const releasing = createEntryRelease({ db, clock, billing })
  const payments = createPayments({ clock, audit })
  const credits = createCreditNotes({ clock, audit, payments })
  const billDrafts = createBillDraftsService({ db, clock, audit })
  const sending = createSending({ db, clock, audit, billing, deliveries, billDrafts })

  /** One sending at a time per process: concurrent ones would only make each other start over. */
  let sendings: Promise<unknown> = Promise.resolve()
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = sendings.then(work, work)
    sendings = turn.catch(() => undefined)
    return turn
  }

  /** The bill of an earlier call with this Idempotency-Key. */
  async function findSent(key: BillSubmission['key']): Promise<Sent | undefined> {
    const billId = await findReplayed(db.read, key)
    return billId === undefined ? undefined : { bill: (await findBill(db.read, { id: billId }))!, replayed: true }
  }

  async function getView(reader: Reader, bill: string): Promise<BillView> {
    const found = await findBill(reader, isId('bil', bill) ? { uid: bill } : { number: bill })
    if (!found) throw notFound(`The bill '${bill}'`)
    return found
  }

  /** The day in the organization's zone, which decides what is overdue. */
  const findToday = async () => dayAt(clock.now(), (await getIssuer(db.read)).timeZone)

  /** Throws `validation_failed` for a client, project or ticket that does not exist. */
  async function requireKnown({ client, project, ticket }: BillListFilter): Promise<void> {
    await projects.requireKnown('client', client === undefined ? undefined : [client], '/query/client')
    await projects.requireKnown('project', project === undefined ? undefined : [project], '/query/project')
    await projects.requireKnown('ticket', ticket === undefined ? undefined : [ticket], '/query/ticket')
  }

  async function readFilter({ client, project, ticket, ...rest }: BillListFilter): Promise<BillFilter> {
    return {
      ...rest,
      clientId: client === undefined ? undefined : (await projects.getClient(client)).id,
      projectId: project === undefined ? undefined : (await projects.showProject(project)).project.id,
      ticketId: ticket === undefined ? undefined : (await projects.showTicket(ticket)).ticket.id,
    }
  }

  async function remainingOfBill(reader: Reader, { bill }: BillView): Promise<Bill['remaining']> {
    if (!(await mayBeCredited(reader, bill))) return null
    return remainingBody(remainingOf(bill, await sumCredits(reader, bill.id)), minorDigitsOf(bill.currency))
  }

  /** Bills as list items. */
  async function heads(views: readonly BillView[]): Promise<BillHead[]> {
    const references = await listReferences(
      db.read,
      views.flatMap(({ bill }) => [bill.replacesId, bill.correctsId, bill.releasedById]),
    )
    const delivered = await deliveries.listOf(views.map(({ bill }) => bill.id))
    const today = await findToday()
    return views.map((view) =>
      billHead(view, { references, delivery: deliveryState(delivered.get(view.bill.id)), today }),
    )
  }

  return {
    ...createBilledAmounts({ db }),

    drafts: billDrafts,

    /** One sentence for each bill that does not match its entries, and for billed entries without a bill. */
    verify: () => findInconsistentBills(db.slow),
    /** The document that would be sent now, and a digest of it and its entries. */
    async preview(body: BillRequest): Promise<BillPreviewed> {
      const { digest, documentText, heading } = await compose(body, { now: clock.now(), isEmptyFine: true })
      return {
        digest,
        period_is_over: heading.period.to < heading.issued_on,
        document: parseRawJson(documentText) as BillDocument,
      }
    },

    run,

    /** The terms with which a client or project is usually billed. Throws `validation_failed` if it does not exist. */
    async usualTerms(of: { client: string } | { project: string }): Promise<UsualTerms> {
      const [kind, name] = 'client' in of ? (['client', of.client] as const) : (['project', of.project] as const)
      await projects.requireKnown(kind, [name], `/query/${kind}`)
      const project = 'project' in of ? await projects.showProject(of.project) : undefined
      const clientId = 'client' in of ? of.client : project?.client?.uid
      const client = clientId === undefined ? undefined : await projects.getClient(clientId)
      const [owner, id] = client ? (['clientId', client.id] as const) : (['projectId', project!.project.id] as const)
      const { currency } = await getIssuer(db.read)
      const last = (await listLastBills(db.read, owner, id)).get(id)
      return usualTerms(client?.currency ?? currency, client, last)
    },

    /**
     * Sends a bill: assigns a number and freezes its entries. With `key`, the same body is sent only once, and later
     * calls return its bill. Throws the problems of {@link createComposition}, `preview_changed`,
     * `draft_gone` and `idempotency_key_reused`.
     */
    send: (
      { digest, deliver_to, message, draft: formDraft, ...body }: BillSending,
      { by, key }: BillSubmission,
    ): Promise<Sent> =>
      inTurn(async () => {
        const issues: Issue[] = issuesOfRecipients(deliver_to)
        for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
          const replayed = await findSent(key)
          if (replayed) return replayed
          if (issues.length > 0) throw validationFailed(issues)
          let draft: BillDraft
          try {
            if (formDraft !== undefined) await billDrafts.requireDraft(db.read, formDraft)
            draft = await compose(body, { now: clock.now(), isEmptyFine: false })
          } catch (error) {
            // Another process may have sent it meanwhile, and nothing is left to bill.
            const sent = await findSent(key)
            if (sent) return sent
            throw error
          }
          if (digest !== undefined && digest !== draft.digest) throw previewChanged()
          const recipients = deliver_to ?? (draft.clientEmail === null ? [] : [draft.clientEmail])
          const billId = await sending.write(draft, { by, key, recipients, message, formDraft })
          if (billId !== undefined) return { bill: (await findBill(db.read, { id: billId }))!, replayed: false }
        }
        throw previewChanged()
      }),

    requireKnown,

    /** Newest first, unless a page has another order. Throws `not_found` for a name that {@link requireKnown} refuses. */
    billRows: {
      async list(filter, page) {
        const views = await listBills(page.by ? db.slow : db.read, await readFilter(filter), {
          ...page,
          today: await findToday(),
        })
        const listed = await heads(views)
        return views.map((view, at) => ({ view, head: listed[at]! }))
      },
      keyOf: ({ view }) => view.bill.id,
      pageAfter: ({ view }, by) => pageAfter(BILL_KEYS, by, view, view.bill.id),
    } satisfies Rows<BillListFilter, keyof typeof BILL_SORTS, ListedBill>,

    /** A page of the bills of these clients. */
    listClientBills: async (
      clientIds: readonly number[],
      page: { after: number | undefined; limit: number },
    ): Promise<BillView[]> => listBills(db.read, { clientIds }, { ...page, today: await findToday() }),

    /** What the bills that match sum up to, by currency; void ones count nothing. Throws like {@link requireKnown}. */
    async sumBills(filter: BillListFilter): Promise<BillTotals> {
      await requireKnown(filter)
      const sums = await sumBills(db.read, await readFilter(filter), await findToday())
      return { data: sums.map(totalsBody) }
    },

    /** The number of sent bills, neither paid nor void, of which the latest e-mail failed. */
    countUndelivered: async (): Promise<number> =>
      countBills(db.read, { states: ['sent'], deliveryFailed: true }, await findToday()),

    /** By id (`bil_…`) or number. Throws `not_found`. */
    getBill: (bill: string): Promise<BillView> => getView(db.read, bill),

    heads,

    /** The response of the API for a bill, with the document to the byte as it was sent. */
    async billText(view: BillView): Promise<string> {
      const [head] = await heads([view])
      const delivered = (await deliveries.listOf([view.bill.id])).get(view.bill.id) ?? []
      const followers = await listFollowers(db.read, view.bill.id)
      return billText(
        head!,
        {
          ...followers,
          remaining: await remainingOfBill(db.read, view),
          payments: (await listPayments(db.read, view.bill.id)).map((payment) => paymentBody(payment, view.bill)),
          deliveries: delivered.map(deliveryBody),
        },
        await getDocument(db.read, view.bill.id),
      )
    },

    /** The bill as it was sent, to the byte. */
    getDocument: ({ bill }: BillView): Promise<string> => getDocument(db.read, bill.id),

    /** A bill in one of its formats, as it was first rendered. Throws `not_found`. */
    renderBill: async (idOrNumber: string, format: DocumentFormat): Promise<RenderedDocument> =>
      documents.render(await getView(db.read, idOrNumber), format),

    /**
     * Returns the entries of a bill to their previous status. Throws `wrong_status` for one that is void, that has
     * payments or that credit notes correct.
     */
    async voidBill(idOrNumber: string, { reason, deliver = true }: BillVoiding, by: Actor): Promise<BillView> {
      const view = await getView(db.read, idOrNumber)
      if (view.bill.state !== 'void') await documents.renderBeforeRelease(view)
      await releasing(view.bill, by, async (tx) => {
        const { bill } = await getView(tx, idOrNumber)
        await payments.lock(tx, bill)
        await payments.prepareVoid(tx, bill, by)
        await updateBillState(tx, bill.id, { state: 'void', voidedAt: clock.now(), voidReason: reason })
        if (bill.correctsId !== null) await payments.offsetCredits(tx, bill.correctsId, by)
        await deliveries.followVoid(tx, bill.id, { notify: deliver, by })
        await audit.record(tx, by, {
          action: `${bill.kind}.voided`,
          object: { id: bill.uid, name: bill.number },
          before: { state: bill.state },
          after: { state: 'void', reason, entries_released: bill.entries },
        })
      })
      return getView(db.read, idOrNumber)
    },

    /**
     * Sends the bill by e-mail again, or to other recipients; for a void bill, sends the void notice. Throws
     * `mail_not_set_up`, and `validation_failed` for invalid or missing recipients.
     */
    async deliverBill(idOrNumber: string, { to, message }: BillDelivery, by: Actor): Promise<BillView> {
      const issues = issuesOfRecipients(to, '/to')
      if (issues.length > 0) throw validationFailed(issues)
      await deliveries.requireMail(db.read)
      const { bill, client } = await getView(db.read, idOrNumber)
      const usual = client
        ? (await projects.getClient(client.uid)).email
        : (parseExactJson(await getDocument(db.read, bill.id)) as BillDocument).recipient?.email
      const recipients = to ?? (usual ? [usual] : [])
      if (recipients.length === 0) throw noRecipient(bill.number)
      return db.write(async (tx) => {
        const { bill: now } = await getView(tx, idOrNumber)
        const notice = now.state === 'void' ? 'void' : 'sent'
        await deliveries.queue(tx, { billId: now.id, notice, recipients, message, by })
        await audit.record(tx, by, {
          action: `${now.kind}.delivered`,
          object: { id: now.uid, name: now.number },
          after: { to: recipients, notice },
        })
        return getView(tx, idOrNumber)
      })
    },

    /** Reminds clients of overdue bills. */
    reminders,

    jobs: mailer ? [deliveries.job, reminders.job] : [],

    /** Sends queued e-mails. */
    deliveries: {
      deliverDue: deliveries.deliverDue,
      count: deliveries.count,
      checkMail: deliveries.checkMail,
    },

    /**
     * Records a payment, of the open balance unless it has an `amount`; with `key`, the same payment only once. Throws
     * `wrong_status` for a paid or void bill, `idempotency_key_reused`, and `validation_failed` for a day that is invalid
     * or in the future and for an amount beyond the balance.
     */
    payBill: (idOrNumber: string, payment: BillPayment, { by, key }: BillSubmission): Promise<Sent> =>
      db.write(async (tx) => {
        const view = await getView(tx, idOrNumber)
        if ((await findReplayed(tx, key)) !== undefined) return { bill: view, replayed: true }
        await payments.lock(tx, view.bill)
        await payments.pay(tx, view.bill, payment, by)
        if (key) await insertBillKey(tx, { ...key, billId: view.bill.id })
        return { bill: await getView(tx, idOrNumber), replayed: false }
      }),

    /**
     * Reverses a payment that was not received after all, or without `payment` all of them. Throws `not_found`, and
     * `wrong_status` for one that is reversed already or was offset against a credit note.
     */
    unpayBill: (
      idOrNumber: string,
      { payment, reason }: PaymentReversal & { payment?: number },
      by: Actor,
    ): Promise<BillView> =>
      db.write(async (tx) => {
        const { bill } = await getView(tx, idOrNumber)
        await payments.lock(tx, bill)
        await (payment === undefined
          ? payments.reverseAll(tx, bill, { reason, by })
          : payments.reverseOne(tx, bill, payment, { reason, by }))
        return getView(tx, idOrNumber)
      }),

    /**
     * Corrects a bill that was paid, at least in part, with a credit note, a bill with its own number: for the given
     * lines, otherwise for the whole remaining amount. What of the bill is still open is offset against it; `release`
     * returns its entries to their previous status. Throws `wrong_status` for any other bill, `validation_failed` for amounts beyond the remaining amount.
     */
    creditBill: (idOrNumber: string, requested: CreditNoteRequest, by: Actor): Promise<BillView> =>
      inTurn(async () => {
        const credit = async (tx: Tx) => credits.send(tx, (await getView(tx, idOrNumber)).bill, requested, by)
        const view = await getView(db.read, idOrNumber)
        if (requested.release) await documents.renderBeforeRelease(view)
        const id = await (requested.release ? releasing(view.bill, by, credit) : db.write(credit))
        return (await findBill(db.read, { id }))!
      }),
  }
}
