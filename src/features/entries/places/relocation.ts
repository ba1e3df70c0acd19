/**
 * Entries that follow their work: those of a project that is merged into another one, and those of a ticket that moves.
 * Only entries that are on no bill move (docs/design/concepts.md, "Placement"), whatever placed them. Names and tickets
 * lead to the new place first, in a transaction of their own, so that nothing new arrives at the old one; entries follow
 * in batches. If a move is interrupted, calling it again continues it.
 */

import type { Actor, Party } from '../../../access/actor.ts'
import type { Database, Reader } from '../../../database/database.ts'
import { validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { moneyNumber } from '../../../lib/money.ts'
import type { AuditService } from '../../audit/service.ts'
import {
  type EntryRelocation,
  type Merged,
  type MergeOptions,
  type ProjectsService,
  type ProjectView,
  projectReference,
  requireEverything,
} from '../../projects/service.ts'
import type { Position } from '../../selection/contract.ts'
import { recordHistory } from '../history/record.ts'
import { countBilled, countFollowers, type Following, listFollowers, moveFollowers } from './store/relocation.ts'

/** Entries or tickets per transaction: about 20 ms, during which reports wait. */
const BATCH = 500

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  projects: ProjectsService
}

export function createRelocation({ db, clock, audit, projects }: Dependencies): EntryRelocation {
  /**
   * Moves batch by batch until no entries remain or time is up, and returns whether none remain. Pages continue after
   * the previous one, since billed entries that stay would be scanned each time; but a session may meanwhile have got
   * an earlier start, so a last pass checks all entries again.
   */
  async function follow(following: Following, { by, details, isOver, onMoved }: Moving): Promise<boolean> {
    let after: Position | undefined
    for (;;) {
      const page = await listFollowers(db.read, following, { after, limit: BATCH })
      if (page.length === 0 && !after) return true
      after = page.at(-1)
      if (!after) continue
      const ids = page.map(({ id }) => id)
      const moved = await db.write(async (tx) => {
        const now = clock.now()
        const moving = await moveFollowers(tx, following, { ids, now })
        await recordHistory(
          tx,
          { action: 'placed', at: now, by },
          moving.map((entryId) => ({ entryId, details })),
        )
        return moving.length
      })
      onMoved?.(moved)
      if (isOver?.()) return (await listFollowers(db.read, following, { after: undefined, limit: 1 })).length === 0
    }
  }

  async function planOf(reader: Reader, { from, into }: { from: ProjectView; into: ProjectView }) {
    const following = { fromProjectId: from.project.id, toProjectId: into.project.id }
    const followers = await countFollowers(reader, following)
    const billed = await countBilled(reader, from.project.id)
    const tickets = await projects.countTickets(reader, from.project.id)
    return { following, plan: { ...followers, billed, tickets } }
  }

  return {
    /**
     * Merges a project into another one, with its names, tickets and unbilled entries. Throws `forbidden`, `not_found`,
     * `validation_failed`, and `project_merged` if it was merged into another project.
     */
    async mergeProject(
      party: Party,
      project: string,
      target: string,
      { dryRun = false, budgetMs = Number.POSITIVE_INFINITY, onProgress }: MergeOptions,
    ): Promise<Merged> {
      requireEverything(party)
      const startedAt = performance.now()
      const pair = await projects.mergePair(db.read, project, target)
      const { plan, following } = await planOf(db.slow, pair)
      const merged = { ...pair, ...plan, aliases: namesOf(pair.from), isDryRun: dryRun, isComplete: true }
      if (dryRun) return merged

      await db.write(async (tx) => {
        // Read again inside the transaction, because either may have been merged meanwhile.
        const now = await projects.mergePair(tx, pair.from.project.uid, pair.into.project.uid)
        if (now.into.project.id !== following.toProjectId) throw targetMerged(pair.into)
        const isNew = await projects.beginMerge(tx, now)
        if (!isNew && plan.entries + plan.tickets === 0) return
        await audit.record(tx, party.by, {
          action: isNew ? 'project.merged' : 'project.merge_continued',
          object: { id: pair.from.project.uid, name: pair.from.project.key },
          ...(isNew && {
            before: { merged_into: null, names: namesOf(pair.from), repositories: now.from.repositories },
          }),
          after: {
            merged_into: projectReference(pair.into.project),
            entries: plan.entries,
            cost: moneyNumber(plan.costNanos),
            tickets: plan.tickets,
          },
        })
      })

      const isOver = () => performance.now() - startedAt > budgetMs
      // Tickets first: an entry that is reported on one of them meanwhile is placed in the ticket's new project.
      for (;;) {
        const batch = { fromId: following.fromProjectId, toId: following.toProjectId, limit: BATCH }
        if ((await db.write((tx) => projects.moveTickets(tx, batch))) < BATCH) break
        if (isOver()) return { ...merged, isComplete: false }
      }
      let done = 0
      const isComplete = await follow(following, {
        by: party.by,
        details: { project: pair.into.project.uid, from: pair.from.project.uid, because: 'project_merged' },
        isOver,
        onMoved: (moved) => {
          done += moved
          onProgress?.(done, plan.entries)
        },
      })
      return { ...merged, isComplete }
    },

    /** Changes a ticket; its unbilled entries follow it to another project. Throws as `changeTicket` does. */
    async changeTicket(party, ticket, fields) {
      const changed = await projects.changeTicket(party, ticket, fields)
      // Clearing a project that is only assumed changes nothing: reports continue to assume it.
      const isCleared = fields.project === null && changed.assumed.length > 0
      if (fields.project === undefined || isCleared) return changed
      await follow(
        { ticketId: changed.ticket.id, toProjectId: changed.ticket.projectId },
        { by: party.by, details: { project: changed.project?.uid ?? null, because: 'ticket_moved' } },
      )
      return changed
    },
  }
}

interface Moving {
  by: Actor
  /** Details for the history of each entry. */
  details: Record<string, unknown>
  isOver?: (() => boolean) | undefined
  onMoved?: ((entries: number) => void) | undefined
}

function targetMerged({ project }: ProjectView) {
  return validationFailed([
    {
      pointer: '/into',
      code: 'not_allowed',
      message: `${project.key} has been merged into another project in the meantime. Try again.`,
    },
  ])
}

/** The names and aliases of a project. A merged project has passed them on. */
function namesOf({ project, aliases, mergedInto }: ProjectView): string[] {
  return mergedInto ? [] : [...new Set([project.key, project.name, ...aliases])]
}
