/** What becomes of entries when their work moves. Entries move themselves; here stands what they tell those who ask. */

import type { Party } from '../../access/actor.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import type { TicketFields } from './fields.ts'
import type { MergeBody } from './schema.ts'
import type { ProjectView } from './store/projects.ts'
import type { TicketView } from './store/tickets.ts'
import { projectReference } from './wire.ts'

/** What a merge moves, or would move. */
export interface Merged {
  from: ProjectView
  into: ProjectView
  /** What leads to the project that stays from now on. */
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
  /** Ends after a batch where it has run for so long, so that a caller over HTTP is answered. */
  budgetMs?: number | undefined
  /** Called with how many entries have moved, and of how many. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/** Those who move entries along with their work. */
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
    former_leads: from.leads
      .filter(({ id }) => !into.leads.some((lead) => lead.id === id))
      .map(({ uid, name }) => ({ id: uid, name })),
    complete: merged.isComplete,
  }
}
