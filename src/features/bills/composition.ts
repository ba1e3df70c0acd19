/** Composes a bill from a request and the current data; writes nothing. */
import type { Database, Reader } from '../../database/database.ts'
import { Problem } from '../../errors.ts'
import { dayAt } from '../../lib/calendar.ts'
import { formatDecimal } from '../../lib/money.ts'
import type { EntriesService } from '../entries/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import { argumentsOf } from './arguments.ts'
import { COMPOSITION_TASK, type CommonHeading, type Composition } from './composition-task.ts'
import { belowZero, earlierEntries, nothingToBill, periodNotClosed, tooLarge, unpricedEntries } from './refusals.ts'
import type { BillRequest } from './schema.ts'
import { hasShares } from './store/billable.ts'
import { getIssuer } from './store/issuer.ts'
import { getView } from './view.ts'

/** A bill that could be sent. */
export interface BillDraft extends Composition {
  heading: CommonHeading
  currency: string
  clientId: number | null
  projectId: number | null
  clientEmail: string | null
  replacesId: number | null
  numberFormat: string
}

/** The shares of fees. */
export interface Allocation {
  /** Calculates those that entries have changed. */
  calculateOwed(): Promise<void>
}

export interface CompositionDependencies {
  db: Database
  billing: Pick<EntriesService['billing'], 'settled' | 'portion'>
  funding: Allocation
  projects: Pick<ProjectsService, 'getClient' | 'showProject'>
}

export function createComposition({ db, billing, funding, projects }: CompositionDependencies) {
  /**
   * Composes the bill, once no other one is being sent or voided. Throws `validation_failed`, `not_found`,
   * `unpriced_entries`, `earlier_entries`, `period_not_closed`, `bill_too_large`, and, unless `isEmptyFine`, `nothing_to_bill`.
   */
  return async function compose(
    body: BillRequest,
    { now, isEmptyFine }: { now: number; isEmptyFine: boolean },
  ): Promise<BillDraft> {
    const issuer = await getIssuer(db.read)
    const today = dayAt(now, issuer.timeZone)
    const { project, client } = await partiesOf(projects, body)
    const replaced = await replacedBill(db.read, body.replaces)
    const args = argumentsOf(body, {
      issuer,
      today,
      client,
      project: project?.project,
      replaced: replaced && { id: replaced.bill.uid, number: replaced.bill.number },
      portion: billing.portion,
    })
    const { heading, terms } = args
    if (hasShares(args.basis)) await funding.calculateOwed()
    const result = await billing.settled(() => db.slowly(COMPOSITION_TASK, args))
    if ('earlier' in result) throw earlierEntries(result.earlier, dayAt(result.earlier.firstAt, issuer.timeZone))
    if ('unpricedEntries' in result) throw unpricedEntries(result.unpricedEntries, args.basis)
    if ('notClosed' in result) throw periodNotClosed(result.notClosed)
    const { composition } = result
    if (composition.entries === 0 && terms.extraLines.length === 0 && !isEmptyFine) throw nothingToBill()
    if (isTooLarge(composition)) throw tooLarge()
    if (composition.subtotalMinor < 0n) {
      throw belowZero(
        composition.costNanos < 0n,
        `${formatDecimal(composition.subtotalMinor, terms.minorDigits)} ${terms.currency}`,
      )
    }
    return {
      ...composition,
      heading,
      currency: terms.currency,
      clientId: client?.id ?? null,
      projectId: project?.project.id ?? null,
      clientEmail: client?.email ?? null,
      replacesId: replaced?.bill.id ?? null,
      numberFormat: issuer.numberFormat,
    }
  }
}

export type Compose = ReturnType<typeof createComposition>

/** Whether one of its sums exceeds the range of the database. */
export function isTooLarge({
  subtotalMinor,
  taxMinor,
  costNanos,
  listValueNanos,
}: Pick<Composition, 'subtotalMinor' | 'taxMinor' | 'costNanos' | 'listValueNanos'>): boolean {
  const sums = [subtotalMinor, subtotalMinor + taxMinor, costNanos, listValueNanos]
  return sums.some((sum) => BigInt.asIntN(64, sum) !== sum)
}

async function replacedBill(reader: Reader, replaces: string | undefined) {
  if (replaces === undefined) return undefined
  const found = await getView(reader, replaces)
  if (found.bill.state !== 'void') {
    throw new Problem(
      'wrong_status',
      `Bill ${found.bill.number} is ${found.bill.state}. Only a void bill can be replaced. Void it first.`,
    )
  }
  return found
}

/** The project and the client of a bill. */
export async function partiesOf(
  projects: Pick<ProjectsService, 'getClient' | 'showProject'>,
  body: Pick<BillRequest, 'client' | 'project'>,
) {
  const project = body.project === undefined ? undefined : await projects.showProject(body.project)
  // A project's bill goes to its client, with the client's currency and markup.
  const clientId = body.client ?? project?.client?.uid
  const client = clientId === undefined ? undefined : await projects.getClient(clientId)
  return { project, client }
}
