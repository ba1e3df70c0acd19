/** Sends bills by e-mail again. */
import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { validationFailed } from '../../errors.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import type { AuditService } from '../audit/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import type { createDeliveries } from './delivery.ts'
import { noRecipient } from './refusals.ts'
import { issuesOfRecipients } from './request.ts'
import type { BillDelivery, BillDocument } from './schema.ts'
import { type BillView, getDocument } from './store/bills.ts'
import { getView } from './view.ts'

interface Dependencies {
  db: Database
  audit: AuditService
  projects: Pick<ProjectsService, 'getClient'>
  deliveries: Pick<ReturnType<typeof createDeliveries>, 'queue' | 'requireMail'>
}

export function createRedelivery({ db, audit, projects, deliveries }: Dependencies) {
  /**
   * Sends the bill by e-mail again, or to other recipients; for a void bill, sends the void notice. Throws
   * `mail_not_set_up`, and `validation_failed` for invalid or missing recipients.
   */
  return async function deliverBill(idOrNumber: string, { to, message }: BillDelivery, by: Actor): Promise<BillView> {
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
  }
}
