/** Bills as they are read one by one. */
import type { Database, Reader } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { mayBeCredited } from './balance.ts'
import { remainingOf } from './credit-note.ts'
import { minorDigitsOf } from './currency.ts'
import { type createDeliveries, deliveryBody, deliveryState } from './delivery.ts'
import type { DocumentFormat, Documents, RenderedDocument } from './documents/documents.ts'
import type { Bill, BillHead } from './schema.ts'
import { type BillView, getDocument, listFollowers, listReferences, sumCredits } from './store/bills.ts'
import { dayOf } from './store/issuer.ts'
import { listPayments } from './store/payments.ts'
import { getView } from './view.ts'
import { billHead, billText, paymentBody, remainingBody } from './wire.ts'

interface Dependencies {
  db: Database
  clock: Clock
  deliveries: Pick<ReturnType<typeof createDeliveries>, 'listOf'>
  documents: Pick<Documents, 'render'>
}

export type BillReading = ReturnType<typeof createReading>

export function createReading({ db, clock, deliveries, documents }: Dependencies) {
  /** Bills as list items. */
  async function heads(views: readonly BillView[]): Promise<BillHead[]> {
    const references = await listReferences(
      db.read,
      views.flatMap(({ bill }) => [bill.replacesId, bill.correctsId, bill.releasedById]),
    )
    const delivered = await deliveries.listOf(views.map(({ bill }) => bill.id))
    const today = await dayOf(db.read, clock.now())
    return views.map((view) =>
      billHead(view, { references, delivery: deliveryState(delivered.get(view.bill.id)), today }),
    )
  }

  return {
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
  }
}

async function remainingOfBill(reader: Reader, { bill }: BillView): Promise<Bill['remaining']> {
  if (!(await mayBeCredited(reader, bill))) return null
  return remainingBody(remainingOf(bill, await sumCredits(reader, bill.id)), minorDigitsOf(bill.currency))
}
