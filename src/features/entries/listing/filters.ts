/**
 * Reads filters of entries for everything that takes them: lists, actions, reports and rules. Dates are days of the
 * organization, and a project, ticket, client or person that does not exist is an issue, not an empty answer.
 */
import type { Asker } from '../../../access/asker.ts'
import type { Database } from '../../../database/database.ts'
import { type Issue, validationFailed } from '../../../errors.ts'
import { foldName } from '../../../lib/names.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { issuesOfPeople } from '../../people/service.ts'
import { issuesOfWork, type WorkKind } from '../../projects/service.ts'
import type { EntryFilter } from './filter.ts'
import { listKnownManagers } from './store/known-managers.ts'

const WORK: WorkKind[] = ['project', 'ticket', 'client']

export function createFilters({
  db,
  organization,
}: {
  db: Database
  organization: Pick<OrganizationService, 'settings'>
}) {
  /**
   * Somebody who sees everybody's entries, but does not list people, knows those with entries. Leads know those with
   * entries of their projects; whether somebody else exists must not show, so their filters are not checked.
   */
  async function issuesOfManagers({ viewer, listsPeople }: Asker, values: string[] | undefined): Promise<Issue[]> {
    const pointer = '/query/agent_manager'
    if (!values || viewer.sees !== 'everything') return []
    if (listsPeople) return issuesOfPeople(db.read, values, pointer)
    const known = new Set(await listKnownManagers(db.read, values))
    if (values.every((value) => known.has(value) || known.has(foldName(value)))) return []
    return [{ pointer, code: 'unknown_name', message: 'must be the id or e-mail address of people with entries' }]
  }

  return {
    /** What `read` reads in the organization's time zone. Throws 422 for names in its filter that do not exist. */
    async read<Read extends object>(asker: Asker, read: (timeZone: string) => Read): Promise<Read> {
      const { timeZone } = await organization.settings()
      const asked = read(timeZone)
      const filter: EntryFilter = 'filter' in asked ? (asked.filter as EntryFilter) : {}
      const issues = [
        ...(await Promise.all(WORK.map((kind) => issuesOfWork(db.read, kind, filter[kind], `/query/${kind}`)))).flat(),
        ...(await issuesOfManagers(asker, filter.agent_manager)),
      ]
      if (issues.length > 0) throw validationFailed(issues)
      return asked
    },
  }
}
