/** Lists of bills, and what they sum up to. */
import type { Database } from '../../database/database.ts'
import { pageAfter } from '../../database/sorting.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Rows } from '../../schema/lists.ts'
import type { ProjectsService } from '../projects/service.ts'
import type { BillListFilter } from './query.ts'
import type { BillReading } from './reading.ts'
import type { BillHead, BillTotals } from './schema.ts'
import type { BILL_SORTS } from './sorts.ts'
import { BILL_KEYS, type BillFilter, type BillView, countBills, listBills, sumBills } from './store/bills.ts'
import { dayOf } from './store/issuer.ts'
import { totalsBody } from './wire.ts'

/** A bill, and as it is in a list. */
export interface ListedBill {
  view: BillView
  head: BillHead
}

interface Dependencies {
  db: Database
  clock: Clock
  projects: Pick<ProjectsService, 'getClient' | 'showProject' | 'showTicket' | 'requireKnown'>
  reading: Pick<BillReading, 'heads'>
}

export function createListing({ db, clock, projects, reading }: Dependencies) {
  const today = () => dayOf(db.read, clock.now())

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

  return {
    requireKnown,

    /** Newest first, unless a page has another order. Throws `not_found` for a name that {@link requireKnown} refuses. */
    billRows: {
      async list(filter, page) {
        const views = await listBills(page.by ? db.slow : db.read, await readFilter(filter), {
          ...page,
          today: await today(),
        })
        const heads = await reading.heads(views)
        return views.map((view, at) => ({ view, head: heads[at]! }))
      },
      keyOf: ({ view }) => view.bill.id,
      pageAfter: ({ view }, by) => pageAfter(BILL_KEYS, by, view, view.bill.id),
    } satisfies Rows<BillListFilter, keyof typeof BILL_SORTS, ListedBill>,

    /** A page of the bills of these clients. */
    listClientBills: async (
      clientIds: readonly number[],
      page: { after: number | undefined; limit: number },
    ): Promise<BillView[]> => listBills(db.read, { clientIds }, { ...page, today: await today() }),

    /** What the bills that match sum up to, by currency; void ones count nothing. Throws like {@link requireKnown}. */
    async sumBills(filter: BillListFilter): Promise<BillTotals> {
      await requireKnown(filter)
      const sums = await sumBills(db.read, await readFilter(filter), await today())
      return { data: sums.map(totalsBody) }
    },

    /** The number of sent bills, neither paid nor void, of which the latest e-mail failed. */
    countUndelivered: async (): Promise<number> =>
      countBills(db.read, { states: ['sent'], deliveryFailed: true }, await today()),
  }
}
