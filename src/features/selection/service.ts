/**
 * Reads filters of entries for everything that takes them: lists, actions, reports and rules. Dates are days of the
 * organization, and a project, ticket, client, person, bill, sheet or price load that does not exist is an issue, not an
 * empty answer.
 */
import type { Asker } from '../../access/asker.ts'
import type { Database } from '../../database/database.ts'
import { type Issue, validationFailed } from '../../errors.ts'
import { foldName } from '../../lib/names.ts'
import { unknownName } from '../../lib/nearest-names.ts'
import type { OrganizationService } from '../organization/service.ts'
import { issuesOfPeople } from '../people/service.ts'
import { issuesOfWork, type WorkKind } from '../projects/service.ts'
import type { EntryFilter } from './filter.ts'
import { listKnownBills, listKnownPriceLoads, listKnownSheets, listNewestBillNumbers } from './store/known-documents.ts'
import { listKnownManagers } from './store/known-managers.ts'

const WORK: WorkKind[] = ['project', 'ticket', 'client']

/** How many unknown bills, sheets or loads of a filter are listed. */
const LISTED = 3

export type SelectionService = ReturnType<typeof createSelectionService>

export function createSelectionService({
  db,
  organization,
}: {
  db: Database
  organization: Pick<OrganizationService, 'settings'>
}) {
  /**
   * Somebody who sees everyone's entries, but does not list people, knows themselves and those with entries. Leads know
   * those with entries of their projects; whether somebody else exists must not show, so their filters are not checked.
   */
  async function issuesOfManagers(
    { viewer, listsPeople, self }: Asker,
    name: 'agent_manager' | 'without_agent_manager',
    values: string[] | undefined,
  ): Promise<Issue[]> {
    const pointer = `/query/${name}`
    if (!values || viewer.sees !== 'everything') return []
    if (listsPeople) return issuesOfPeople(db.read, values, pointer)
    const known = new Set(await listKnownManagers(db.read, values))
    if (self) known.add(self.uid).add(self.email)
    if (values.every((value) => known.has(value) || known.has(foldName(value)))) return []
    return [{ pointer, code: 'unknown_name', message: 'must be the id or e-mail address of people with entries' }]
  }

  /** Only people who see everything read bills. For others, whether one exists must not show. */
  async function issuesOfBills({ viewer }: Asker, values: string[] | undefined): Promise<Issue[]> {
    const named = (values ?? []).filter((value) => value !== 'none')
    if (named.length === 0 || viewer.sees !== 'everything') return []
    const unknown = without(named, await listKnownBills(db.read, named))
    if (unknown.length === 0) return []
    const numbers = await listNewestBillNumbers(db.read)
    return unknown.map((value) => unknownName('/query/bill', 'bill', value, numbers))
  }

  /** A sheet that the asker does not see is like one that does not exist. */
  async function issuesOfSheets({ viewer }: Asker, values: string[] | undefined): Promise<Issue[]> {
    if (!values) return []
    const unknown = without(values, await listKnownSheets(db.read, viewer, values))
    return unknown.map((value) => unknownName('/query/sheet', 'token sheet', value, []))
  }

  /** As for bills. */
  async function issuesOfPriceLoads({ viewer }: Asker, values: string[] | undefined): Promise<Issue[]> {
    if (!values || viewer.sees !== 'everything') return []
    const unknown = without(values, await listKnownPriceLoads(db.read, values))
    return unknown.map((value) => unknownName('/query/price_load', 'price load', value, []))
  }

  /** Whoever sees single projects must not learn from suggestions, or their absence, which others there are. */
  async function issuesOfPlaces({ viewer }: Asker, filter: EntryFilter): Promise<Issue[]> {
    if (viewer.sees === 'granted') return []
    const found = WORK.map((kind) => issuesOfWork(db.read, kind, filter[kind], `/query/${kind}`))
    return (await Promise.all(found)).flat()
  }

  return {
    /** What `read` reads in the organization's time zone. Throws 422 for names in its filter that do not exist. */
    async read<Read extends object>(asker: Asker, read: (timeZone: string) => Read): Promise<Read> {
      const { timeZone } = await organization.settings()
      const requested = read(timeZone)
      const filter: EntryFilter = 'filter' in requested ? (requested.filter as EntryFilter) : {}
      const issues = [
        ...(await issuesOfPlaces(asker, filter)),
        ...(await issuesOfManagers(asker, 'agent_manager', filter.agent_manager)),
        // Excluding somebody without entries excludes nothing, as for a new approver.
        ...(asker.listsPeople
          ? await issuesOfManagers(asker, 'without_agent_manager', filter.without_agent_manager)
          : []),
        ...(await issuesOfPriceLoads(asker, filter.price_load)),
        ...(await issuesOfSheets(asker, filter.sheet)),
        ...(await issuesOfBills(asker, filter.bill)),
      ]
      if (issues.length > 0) throw validationFailed(issues)
      return requested
    },
  }
}

/** The first of the values that are not known. */
function without(values: readonly string[], known: readonly string[]): string[] {
  return values.filter((value) => !known.includes(value)).slice(0, LISTED)
}
