/** Results of moving entries along with their work. `entries/` moves them, and returns these shapes. */

import type { Party } from '../../access/actor.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import { isLedBy } from './access.ts'
import type { TicketFields } from './fields.ts'
import type { MergeBody } from './schema.ts'
import type { ProjectView } from './store/projects.ts'
import type { Responsible } from './store/responsible.ts'
import type { TicketView } from './store/tickets.ts'
import { projectReference } from './wire.ts'

/** The two projects of a merge, and the viewers to whom each was granted. */
export interface MergePair {
  from: ProjectView
  into: ProjectView
  viewers: Responsible[]
  viewersOfTarget: Responsible[]
}

/** What a merge moved, or would move in a dry run. */
export interface Merged extends MergePair {
  /** Names that refer to the remaining project from now on. */
  aliases: string[]
  entries: number
  unpriced: number
  /** Total of the entries with a known cost. */
  costNanos: Nanos
  /** Entries that do not move because they are on bills. */
  billed: number
  tickets: number
  isDryRun: boolean
  /** Whether everything was moved within the time limit. */
  isComplete: boolean
}

export interface MergeOptions {
  /** Dry run: only reports what would move. */
  dryRun?: boolean | undefined
  /** Ends the call after the batch that exceeds this time, so that a caller over HTTP gets a response. */
  budgetMs?: number | undefined
  /** Called with the number of moved entries, and the total. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/** Moves entries along with their work. */
export interface EntryRelocation {
  mergeProject(party: Party, project: string, into: string, options: MergeOptions): Promise<Merged>
  changeTicket(party: Party, ticket: string, fields: TicketFields): Promise<TicketView>
}

export function mergeBody(merged: Merged): MergeBody {
  const { from, into } = merged
  return {
    dry_run: merged.isDryRun,
    project: projectReference(from.project),
    into: projectReference(into.project),
    aliases: merged.aliases,
    entries: merged.entries,
    unpriced_entries: merged.unpriced,
    cost: moneyNumber(merged.costNanos),
    billed_entries: merged.billed,
    tickets: merged.tickets,
    former_leads: [...from.leads, ...from.clientLeads]
      .filter(({ id }, index, leads) => !isLedBy(id, into) && leads.findIndex((lead) => lead.id === id) === index)
      .map(({ uid, name }) => ({ id: uid, name })),
    former_viewers: without(merged.viewers, merged.viewersOfTarget),
    new_viewers: without(merged.viewersOfTarget, merged.viewers),
    complete: merged.isComplete,
  }
}

function without(people: readonly Responsible[], others: readonly Responsible[]) {
  return people.filter(({ id }) => !others.some((other) => other.id === id)).map(({ uid, name }) => ({ id: uid, name }))
}
