/** Bills: from usage to a numbered document that is sent once (docs/design/bills.md). */
import { requireBasis } from '../../access/cost-basis.ts'
import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { AuditService } from '../audit/service.ts'
import type { EntriesService } from '../entries/service.ts'
import type { EventsService } from '../events/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import { createBilledAmounts } from './billed-amounts.ts'
import { type Allocation, createComposition } from './composition.ts'
import { createCreditNotes } from './credit-note-sending.ts'
import { createDeliveries, type DocumentRenderer } from './delivery.ts'
import { createMailer, type MailServer } from './delivery-mailer.ts'
import { createDocuments } from './documents/documents.ts'
import { createBillDraftsService } from './drafts/service.ts'
import { createEntryRelease } from './entry-release.ts'
import { findInconsistentBills } from './integrity.ts'
import { createListing } from './listing.ts'
import { createPayments } from './payments.ts'
import { createPreparation } from './preparation.ts'
import { createReading } from './reading.ts'
import { createRedelivery } from './redelivery.ts'
import { createReminders } from './reminders.ts'
import { createRun } from './run.ts'
import { createSending } from './sending.ts'
import { createTurns } from './turns.ts'
import { createVoiding } from './voiding.ts'

export { type BilledAmount, type BilledCost, billedAmountBody } from './billed-amounts.ts'
export { createMailer } from './delivery-mailer.ts'
export type { DocumentFormat } from './documents/documents.ts'
export type { ListedBill } from './listing.ts'
export type { BillRun, BillRunRow } from './run-schema.ts'
export type { BillView } from './store/bills.ts'
export type { BillSubmission, Sent } from './submission.ts'

export interface BillsDependencies {
  db: Database
  clock: Clock
  events: Pick<EventsService, 'record'>
  audit: AuditService
  projects: Pick<ProjectsService, 'getClient' | 'showProject' | 'showTicket' | 'requireKnown'>
  entries: Pick<EntriesService, 'billing'>
  funding: Allocation
  /** Replaces the default renderer of documents. */
  documents?: DocumentRenderer
  /** The mail server for bills; without `from`, mails are sent from the organization's address. */
  mail?: (MailServer & { from: string | undefined }) | undefined
}

export type BillsService = ReturnType<typeof createBillsService>

export function createBillsService({ documents: renderer, mail, entries, ...rest }: BillsDependencies) {
  const mailer = mail && createMailer(mail)
  const documents = createDocuments(rest)
  const deliveries = createDeliveries({ ...rest, mailer, from: mail?.from, documents: renderer ?? documents })
  const drafts = createBillDraftsService(rest)
  const dependencies = { ...rest, billing: entries.billing, documents, deliveries, drafts }
  const compose = createComposition(dependencies)
  const releasing = createEntryRelease(dependencies)
  const reminders = createReminders(dependencies)
  const reading = createReading(dependencies)
  // One at a time per process: concurrent ones would only make each other start over.
  const inTurn = createTurns()

  return {
    ...createBilledAmounts(rest),
    ...createPreparation({ ...dependencies, compose }),
    ...reading,
    ...createListing({ ...dependencies, reading }),
    ...createPayments(rest),
    /** Throws 403 `fees_hidden` if bills by the basis show what the viewer does not see. Leads send no bills. */
    requireBasis: (viewer: Viewer, basis: CostBasis = 'cost'): Promise<void> =>
      requireBasis(rest.db.read, viewer, basis, { leadsSeeFees: false }),

    run: createRun(dependencies),
    send: createSending({ ...dependencies, compose, inTurn }),
    voidBill: createVoiding({ ...dependencies, releasing }),
    creditBill: createCreditNotes({ ...dependencies, releasing, inTurn }),
    deliverBill: createRedelivery(dependencies),
    drafts,

    /** Reminds clients of overdue bills. */
    reminders,

    /** Sends queued e-mails. */
    deliveries: {
      deliverDue: deliveries.deliverDue,
      count: deliveries.count,
      checkMail: deliveries.checkMail,
    },

    /** One sentence for each bill that does not match its entries, and for billed entries without a bill. */
    verify: () => findInconsistentBills(rest.db.slow),

    jobs: mailer ? [deliveries.job, reminders.job] : [],
  }
}
