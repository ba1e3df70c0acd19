/**
 * The work left for a period before it can be billed or trusted: entries that are not placed, priced, approved or billed,
 * sessions that continue past its ends, and possible duplicates.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { PLACED_BY, STATUSES } from '../../database/schema/values.ts'
import type { Clock } from '../../lib/clock.ts'
import { moneyNumber } from '../../lib/money.ts'
import { afterAllStarts } from '../entries/contract.ts'
import type { EntriesService } from '../entries/service.ts'
import type { FundingService } from '../funding/service.ts'
import {
  exactAt,
  type Grouping,
  PLACED_BY_KEYS,
  STATUS_KEYS,
  SUMS_TASK,
  type SummedColumns,
} from '../rollup/service.ts'
import { conditionOf, type EntryFilter, listPath } from '../selection/contract.ts'
import { CHECKS, type CheckedGroup, type CheckName, type EntryCount, matches } from './checks.ts'
import type { PeriodAloneQuery } from './query.ts'
import type { CompletenessCheck, CompletenessReport } from './schema.ts'
import { countEntries, findSpecialProjects, type SpecialProjects } from './store/completeness.ts'
import { queryBody } from './wire.ts'

/** What the checks distinguish entries by. */
const GROUPINGS: Grouping[] = [
  { key: 'status' },
  { key: 'placedBy' },
  { key: 'isPossibleDuplicate' },
  { key: 'projectId' },
]

interface CompletenessDependencies {
  db: Database
  clock: Clock
  billing: Pick<EntriesService['billing'], 'settled'>
  funding: Pick<FundingService, 'decisions'>
}

export function createCompleteness({ db, clock, billing, funding }: CompletenessDependencies) {
  function sumEntries(viewer: Viewer, filter: EntryFilter, grouped: { onlyStraddling: boolean }) {
    const bounds = [filter.starting_at!, filter.ending_at!]
    const groupings = grouped.onlyStraddling ? [] : GROUPINGS
    return db.slowly(SUMS_TASK, { viewer, filter, bounds, groupings, figures: ['cost'], ...grouped })
  }

  async function groupsOf(viewer: Viewer, filter: EntryFilter): Promise<CheckedGroup[]> {
    const all: EntryFilter = { ...filter, status: [...STATUSES] }
    const [sums, projects] = await Promise.all([
      sumEntries(viewer, all, { onlyStraddling: false }),
      findSpecialProjects(db.read),
    ])
    return Array.from({ length: sums.length }, (_, row) => groupAt(sums, row, projects))
  }

  async function checksOf(viewer: Viewer, query: PeriodAloneQuery): Promise<CompletenessCheck[]> {
    const { filter: chosen, startingAt, endingAt } = query
    const groups = new Map<string, Promise<CheckedGroup[]>>()

    async function count(name: CheckName, filter: EntryFilter, own: EntryFilter): Promise<EntryCount> {
      switch (CHECKS[name].readFrom) {
        case 'index':
          return countEntries(db.slow, { viewer, condition: conditionOf(db.slow, filter) })
        case 'funding':
          return sumOf(
            (await groupsOf(viewer, filter)).filter((group) => matches(own, group)),
            false,
          )
        case 'straddling': {
          // The period ends where the sessions are to be continued.
          const sums = await sumEntries(viewer, { ...filter, ended_after: undefined }, { onlyStraddling: true })
          return sums.length > 0 ? countAt(sums, 0) : NOTHING
        }
        case 'groups': {
          // The others need one sum for all of them: what a check asks for replaces what the caller chose.
          const common = Object.fromEntries(Object.entries(filter).filter(([field]) => !Object.hasOwn(own, field)))
          const key = JSON.stringify(common)
          if (!groups.has(key)) groups.set(key, groupsOf(viewer, common))
          return sumOf(
            (await groups.get(key)!).filter((group) => matches(own, group)),
            own.priced === false,
          )
        }
      }
    }

    const { isEmpty } = await funding.decisions(db.read)
    const names = (Object.keys(CHECKS) as CheckName[]).filter((name) => !isEmpty || CHECKS[name].readFrom !== 'funding')
    const checks = names.map(async (name): Promise<CompletenessCheck> => {
      const own = CHECKS[name].filter(query)
      const filter = { ...chosen, starting_at: startingAt, ending_at: endingAt, superseded: false, ...own }
      const { entries, unpricedEntries, costNanos } = await count(name, filter, own)
      return {
        check: name,
        entries,
        unpriced_entries: unpricedEntries,
        cost: moneyNumber(costNanos),
        list: listPath(filter),
      }
    })
    return Promise.all(checks)
  }

  return {
    /**
     * For each part, the entries of any time that match it and `common`: one sum for all parts, which tell entries apart
     * by status, placement, duplicates and the lack of a price only.
     */
    countParts: (viewer: Viewer, common: EntryFilter, parts: readonly EntryFilter[]): Promise<EntryCount[]> =>
      billing.settled(async () => {
        const groups = await groupsOf(viewer, { starting_at: 0, ending_at: afterAllStarts(clock.now()), ...common })
        return parts.map((own) =>
          sumOf(
            groups.filter((group) => matches(own, group)),
            own.priced === false,
          ),
        )
      }),

    /** Each check with the number of entries it finds, their cost, and the path that lists them. */
    async completeness(viewer: Viewer, query: PeriodAloneQuery): Promise<CompletenessReport> {
      return { ...queryBody(query), data: await billing.settled(() => checksOf(viewer, query)) }
    },
  }
}

const NOTHING: EntryCount = { entries: 0, unpricedEntries: 0, costNanos: null }

function countAt({ entries, unpricedEntries, figures: [cost] }: SummedColumns, row: number): EntryCount {
  return { entries: entries[row]!, unpricedEntries: unpricedEntries[row]!, costNanos: exactAt(cost!, row) }
}

function groupAt(sums: SummedColumns, row: number, projects: SpecialProjects): CheckedGroup {
  const [status, placedBy, isPossibleDuplicate, projectId] = sums.keys.map((keys) => keys[row]!)
  return {
    ...countAt(sums, row),
    status: STATUSES.find((text) => STATUS_KEYS[text] === status)!,
    placedBy: PLACED_BY.find((text) => PLACED_BY_KEYS[text] === placedBy) ?? 'none',
    isPossibleDuplicate: isPossibleDuplicate === 1,
    isWithoutProject: projectId === -1,
    isWithoutClient: projects.withoutClient.has(projectId!),
    isBillable: !projects.notBillable.has(projectId!),
  }
}

function sumOf(groups: readonly CheckedGroup[], onlyUnpriced: boolean): EntryCount {
  const sum = groups.reduce(added, NOTHING)
  return onlyUnpriced ? { ...sum, entries: sum.unpricedEntries, costNanos: null } : sum
}

function added(sum: EntryCount, { entries, unpricedEntries, costNanos }: EntryCount): EntryCount {
  return {
    entries: sum.entries + entries,
    unpricedEntries: sum.unpricedEntries + unpricedEntries,
    costNanos: costNanos === null ? sum.costNanos : (sum.costNanos ?? 0n) + costNanos,
  }
}
