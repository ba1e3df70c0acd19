/**
 * What waits for a person. Each count is the total of a list that the person can open, from the service that also
 * answers the list; nothing is stored, so it cannot differ from it.
 */

import type { Party } from '../../access/actor.ts'
import type { Person } from '../../access/caller.ts'
import { type Viewer, viewerOf } from '../../access/visibility.ts'
import { dayAt, startOfDay } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { moneyNumber } from '../../lib/money.ts'
import { seesEverything } from '../../schema/fields.ts'
import type { AgentStatusService } from '../agent-status/service.ts'
import type { BillsService } from '../bills/service.ts'
import type { EntriesService } from '../entries/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PlacementService } from '../placement/service.ts'
import type { PlansService } from '../plans/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import type { ReportsService } from '../reports/service.ts'
import { type EntryFilter, listPath } from '../selection/contract.ts'
import type { SheetsService } from '../sheets/service.ts'
import type { WebhooksService } from '../webhooks/service.ts'
import { INBOX_KINDS, type InboxKind } from './kinds.ts'
import type { Inbox, InboxItem } from './schema.ts'

export type InboxService = ReturnType<typeof createInboxService>

interface Dependencies {
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
  entries: Pick<EntriesService, 'approval'>
  sheets: Pick<SheetsService, 'sumWaitingSheets' | 'countOwnSheets'>
  reports: Pick<ReportsService, 'countParts'>
  projects: Pick<ProjectsService, 'countConflictingTickets'>
  placement: Pick<PlacementService, 'countOpenProposals'>
  bills: Pick<BillsService, 'countUndelivered'>
  plans: Pick<PlansService, 'countUnclosed'>
  webhooks: Pick<WebhooksService, 'countFailing'>
  agentStatus: Pick<AgentStatusService, 'countUnread'>
}

/** Who asks: the viewer includes what the person may approve. */
interface Asking {
  person: Person
  viewer: Viewer
  /** The kinds that concern them, and whose lists they may read. */
  kinds: ReadonlySet<InboxKind>
}

/** Without `decisions`, what is found is one. */
type Found = Omit<InboxItem, 'kind' | 'decisions'> & Partial<Pick<InboxItem, 'decisions'>>

/** As reports count them: rejected and voided entries need nothing more. */
const LIVE: EntryFilter = { status: ['submitted', 'approved', 'billed'], superseded: false }

/** Entries by what has to be done with them. What somebody has decided about them no longer waits. */
const OF_ENTRIES = {
  held_entries: { status: ['held'], superseded: false },
  possible_duplicates: { status: ['submitted'], possible_duplicate: true, superseded: false },
  unattributed_entries: { ...LIVE, placed: ['none'] },
  unpriced_entries: { ...LIVE, priced: false },
} as const satisfies Partial<Record<InboxKind, EntryFilter>>
type KindOfEntries = keyof typeof OF_ENTRIES

export function createInboxService(dependencies: Dependencies) {
  const { clock, organization, entries, sheets, reports, projects, placement, bills, plans, webhooks, agentStatus } =
    dependencies

  async function entriesByKind({ person, kinds }: Asking): Promise<Partial<Record<InboxKind, Found[]>>> {
    const asked = (Object.keys(OF_ENTRIES) as KindOfEntries[]).filter((kind) => kinds.has(kind))
    if (asked.length === 0) return {}
    const filters = asked.map((kind): EntryFilter => OF_ENTRIES[kind])
    const counts = await reports.countParts(viewerOf(person), { superseded: false }, filters)
    return Object.fromEntries(
      asked.map((kind, at) => {
        const { entries: count, costNanos } = counts[at]!
        return [kind, [{ ...NOTHING, count, cost: moneyNumber(costNanos), list: listPath(filters[at]!) }]]
      }),
    )
  }

  async function entriesToApprove({ person, viewer }: Asking): Promise<Found[]> {
    if (seesEverything(person.role) && !(await organization.settings()).approvalRequired) return []
    const [filters, sums] = await Promise.all([
      entries.approval.waitingFilters(person, viewer),
      entries.approval.sumWaiting({ person, viewer }, {}),
    ])
    return Promise.all(
      filters.map(async (filter) => {
        const [sum] = await reports.countParts(viewer, filter, [{ status: ['submitted'] }])
        const { project: projects } = filter
        const waiting = sums.filter(({ project }) => !projects || (project && projects.includes(project.uid)))
        return {
          ...NOTHING,
          count: sum!.entries,
          decisions: waiting.length,
          cost: moneyNumber(sum!.costNanos),
          list: listPath(filter),
        }
      }),
    )
  }

  async function sheetsToApprove(party: Pick<Party, 'person' | 'viewer'>): Promise<Found> {
    const { sheets: count, costNanos, oldestAt } = await sheets.sumWaitingSheets(party)
    return {
      count,
      decisions: count,
      cost: moneyNumber(costNanos),
      list: '/api/v1/approvals',
      oldest_at: timestampOrNull(oldestAt),
    }
  }

  async function ownSheets({ person }: Asking, status: 'returned' | 'open'): Promise<Found> {
    const parameters = new URLSearchParams({ agent_manager: person.uid, status })
    let endedBefore: number | undefined
    if (status === 'open') {
      const { timeZone } = await organization.settings()
      // Periods end with a day: the same path all day.
      endedBefore = startOfDay(dayAt(clock.now(), timeZone), timeZone)
      parameters.set('ended_before', timestamp(endedBefore))
    }
    const own = await sheets.countOwnSheets(person.id, { statuses: [status], endedBefore })
    return {
      ...NOTHING,
      count: own.sheets,
      decisions: own.sheets,
      list: `/api/v1/token-sheets?${parameters}`,
      oldest_at: timestampOrNull(own.oldestAt),
    }
  }

  const counted = async (count: Promise<number>, list: string): Promise<Found> => ({
    ...NOTHING,
    count: await count,
    list,
  })

  /** Of which each is decided by itself. */
  const each = async (count: Promise<number>, list: string): Promise<Found> => ({
    ...(await counted(count, list)),
    decisions: await count,
  })

  return {
    /** Everything that waits for the person. Entries are counted of any time, from the sums of days and months. */
    async inbox(asking: Asking): Promise<Inbox> {
      const { person } = asking
      const ofEntries = entriesByKind(asking)
      const read: Record<Exclude<InboxKind, KindOfEntries>, () => Promise<Found | Found[]>> = {
        sheets_to_approve: () => sheetsToApprove(asking),
        entries_to_approve: () => entriesToApprove(asking),
        returned_sheets: () => ownSheets(asking, 'returned'),
        overdue_sheets: () => ownSheets(asking, 'open'),
        own_held_entries: () =>
          counted(entries.approval.countHeld(person.id), listPath({ agent_manager: [person.uid], status: ['held'] })),
        conflicting_tickets: () => counted(projects.countConflictingTickets(), '/api/v1/tickets?conflicting=true'),
        rule_proposals: () => each(placement.countOpenProposals(), '/api/v1/placement-rules/proposals?state=open'),
        failed_deliveries: () => each(bills.countUndelivered(), '/api/v1/bills?state=sent&delivery_failed=true'),
        unclosed_periods: () => each(plans.countUnclosed(), '/api/v1/plans/periods?unclosed=true'),
        unread_agents: () => {
          const parameters = new URLSearchParams({ user: person.email, reads_all: 'false' })
          return counted(agentStatus.countUnread(person.id), `/api/v1/agent-status?${parameters}`)
        },
        failing_webhooks: () => counted(webhooks.countFailing(), '/api/v1/webhooks?failing=true'),
      }
      const found = await Promise.all(
        INBOX_KINDS.filter((kind) => asking.kinds.has(kind)).map(async (kind): Promise<InboxItem[]> => {
          const items = isOfEntries(kind) ? ((await ofEntries)[kind] ?? []) : await read[kind]()
          return [items].flat().map((item) => ({ kind, ...item, decisions: item.decisions ?? 1 }))
        }),
      )
      const data = found.flat().filter(({ count }) => count > 0)
      const sumOf = (field: 'count' | 'decisions') => data.reduce((sum, item) => sum + item[field], 0)
      return { open: sumOf('count'), decisions: sumOf('decisions'), data }
    },
  }
}

const NOTHING = { cost: null, oldest_at: null }

function isOfEntries(kind: InboxKind): kind is KindOfEntries {
  return Object.hasOwn(OF_ENTRIES, kind)
}
