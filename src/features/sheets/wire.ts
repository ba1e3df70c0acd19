/** Serializes sheets. */

import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { moneyNumber } from '../../lib/money.ts'
import type { Page } from '../../schema/lists.ts'
import type { Overlap, SheetSum } from '../entries/contract.ts'
import type { Approvals, SheetOverlaps, TokenSheet } from './schema.ts'
import type { SheetView } from './store.ts'

type Span = Overlap['entry']

/** The projects of a sheet's entries; null for unattributed entries. */
export type SheetProjects = (TokenSheet['projects'][number] | null)[]

interface Sums {
  entries: number
  unpricedEntries: number
  tokens: bigint
  costNanos: bigint
  listValueNanos: bigint
}

const NOTHING: Sums = { entries: 0, unpricedEntries: 0, tokens: 0n, costNanos: 0n, listValueNanos: 0n }

export function sheetBody(
  { sheet, manager, decider }: SheetView,
  sum: SheetSum | undefined,
  projects: SheetProjects,
): TokenSheet {
  return {
    id: sheet.uid,
    status: sheet.status,
    agent_manager: { id: manager.uid, name: manager.name },
    period: { from: sheet.firstDay, to: sheet.lastDay },
    starting_at: timestamp(sheet.startingAt),
    ending_at: timestamp(sheet.endingAt),
    note: sheet.note,
    reason: sheet.reason,
    ...sumsBody(sum ?? NOTHING),
    projects: projects.filter((project) => project !== null).toSorted((one, other) => (one.key < other.key ? -1 : 1)),
    has_unplaced: projects.includes(null),
    created_at: timestamp(sheet.createdAt),
    submitted_at: timestampOrNull(sheet.submittedAt),
    decided_at: timestampOrNull(sheet.decidedAt),
    decided_by: decider && { id: decider.uid, name: decider.name },
    updated_at: timestampOrNull(sheet.updatedAt),
  }
}

function sumsBody({ entries, unpricedEntries, tokens, costNanos, listValueNanos }: Sums) {
  return {
    entries,
    unpriced_entries: unpricedEntries,
    tokens: Number(tokens),
    cost: moneyNumber(costNanos),
    list_value: moneyNumber(listValueNanos),
  }
}

function addUp(sums: Sums[]): Sums {
  return sums.reduce(
    (all, sum) => ({
      entries: all.entries + sum.entries,
      unpricedEntries: all.unpricedEntries + sum.unpricedEntries,
      tokens: all.tokens + sum.tokens,
      costNanos: all.costNanos + sum.costNanos,
      listValueNanos: all.listValueNanos + sum.listValueNanos,
    }),
    NOTHING,
  )
}

export function overlapsBody(overlaps: Overlap[]): SheetOverlaps {
  return { data: overlaps.map(({ entry, reported }) => ({ entry: spanBody(entry), reported: spanBody(reported) })) }
}

function spanBody({ uid, harness, startedAt, endedAt }: Span) {
  return { id: uid, agent_harness: harness, started_at: timestamp(startedAt), ended_at: timestamp(endedAt) }
}

export function approvalsBody(
  sheets: { page: Page<Approvals['sheets']['data'][number]>; sums: Sums[]; count: number },
  byProject: (Sums & { project: { uid: string; key: string; name: string } | null })[],
): Approvals {
  return {
    sheets: { sheets: sheets.count, ...sumsBody(addUp(sheets.sums)), ...sheets.page },
    entries: {
      ...sumsBody(addUp(byProject)),
      projects: byProject.map(({ project, ...sums }) => ({
        project: project && { id: project.uid, key: project.key, name: project.name },
        ...sumsBody(sums),
      })),
    },
  }
}
