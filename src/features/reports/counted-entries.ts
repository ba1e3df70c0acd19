/** Which entries reports count, as the filter that also lists them. Pure. */
import { STATUSES } from '../../database/schema/values.ts'
import type { EntryFilter } from '../entries/listing/filter.ts'

/** Not drafts, nor what waits on a submitted sheet: it is no use yet. */
export const COUNTED_STATUSES = STATUSES.filter((status) => status !== 'draft' && status !== 'pending')

/** The filter, less what reports leave out unless it is asked for: drafts, sheets in waiting, superseded entries. */
export function counted(filter: EntryFilter): EntryFilter {
  return { ...filter, statuses: filter.statuses ?? COUNTED_STATUSES, superseded: filter.superseded ?? false }
}

/** The path that lists the entries of a filter. */
export function listPath(filter: EntryFilter): string {
  const lists: Record<string, readonly string[] | undefined> = {
    project: filter.projects,
    ticket: filter.tickets,
    client: filter.clients,
    agent_manager: filter.managers,
    agent_name: filter.agents,
    agent_harness: filter.harnesses,
    model: filter.models,
    provider: filter.providers,
    status: filter.statuses,
    source: filter.sources,
    session_id: filter.sessionKeys,
    label: filter.labels?.map(({ name, value }) => `${name}:${value}`),
    without_label: filter.withoutLabels,
    placed: filter.placed,
    bill: filter.bills,
  }
  const values: Record<string, string | undefined> = {
    starting_at: moment(filter.startingAt),
    ending_at: moment(filter.endingAt),
    ended_after: moment(filter.endedAfter),
    billable: filter.billable?.toString(),
    priced: filter.priced?.toString(),
    possible_duplicate: filter.possibleDuplicate?.toString(),
    superseded: filter.superseded?.toString(),
    q: filter.text,
  }
  const parameters = new URLSearchParams()
  for (const [name, text] of Object.entries(values)) if (text !== undefined) parameters.append(name, text)
  // Repeated, as a name may hold the comma that would divide a list.
  for (const [name, texts = []] of Object.entries(lists)) for (const text of texts) parameters.append(name, text)
  return `/api/v1/token-entries?${parameters}`
}

function moment(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString()
}
