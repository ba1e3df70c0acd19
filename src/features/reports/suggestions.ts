/**
 * Where a group of unattributed entries may belong: the ticket, or at least the project, that all of its branches or
 * summaries name, otherwise the project that has its repository. Everyone who may read the report knows the names of
 * projects and tickets; only leads, billing and admin know which repositories a project has.
 */
import type { Viewer } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import { escapeExpression } from '../../lib/expressions.ts'
import { foldName } from '../../lib/names.ts'
import { ticketPrefix } from '../projects/service.ts'
import {
  listProjectsById,
  listProjectsByName,
  listProjectsByRepository,
  listTicketsByKey,
  type SuggestedProject,
  type SuggestedTicket,
} from './store/suggestions.ts'
import { ticketKeysIn } from './ticket-keys.ts'

/** The label with the branch of the work; agents' own hooks and readers send it. */
const BRANCH = 'branch'

/** A repository with more branches than this has no one ticket. */
export const PARTS_LIMIT = 1_000

/** Entries that have the same labels. */
export interface SuggestionPart {
  labels: Readonly<Record<string, string>>
  /** The summaries of all of them; none unless they are known and few. */
  summaries: readonly string[]
}

export interface SuggestionGroup {
  repository: string | undefined
  parts: readonly SuggestionPart[]
}

export interface Suggestion {
  /** Null if no project is known for the ticket. */
  project: SuggestedProject | null
  /** The key of a ticket; null to suggest the project alone. It need not exist if the project does. */
  ticket: string | null
  from: 'branch' | 'summary' | 'repository'
}

export interface Suggested {
  suggestion: Suggestion | null
  /** The condition on the branch that finds the tickets of a project; null unless branches name tickets of just one. */
  branchPattern: string | null
}

/** What is known about the names that the texts contain. */
export interface Known {
  /** By folded key. */
  tickets: ReadonlyMap<string, SuggestedTicket>
  /** By folded key, name or alias. */
  projects: ReadonlyMap<string, SuggestedProject>
  projectsById: ReadonlyMap<number, SuggestedProject>
  byRepository: ReadonlyMap<string, readonly SuggestedProject[]>
}

export const NO_SUGGESTION: Suggested = { suggestion: null, branchPattern: null }

/** For each group, in their order. */
export async function suggestionsFor(
  reader: Reader,
  viewer: Viewer,
  groups: readonly SuggestionGroup[],
): Promise<Suggested[]> {
  if (viewer.sees === 'granted') return groups.map(() => NO_SUGGESTION)
  const keys = new Set(groups.flatMap(textsOf).flatMap(ticketKeysIn).map(foldName))
  const prefixes = new Set([...keys].flatMap((key) => ticketPrefix(key) ?? []))
  const repositories = new Set(groups.flatMap(({ repository }) => repository ?? []))
  const tickets = await listTicketsByKey(reader, [...keys])
  const named = await listProjectsByName(reader, [...prefixes])
  const decided = await listProjectsById(reader, [...new Set(tickets.flatMap(({ projectId }) => projectId ?? []))])
  const withRepository = await listProjectsByRepository(reader, viewer, [...repositories])
  const known: Known = {
    tickets: new Map(tickets.map((ticket) => [ticket.folded, ticket])),
    projects: new Map(named.map(({ folded, ...project }) => [folded, project])),
    projectsById: new Map(decided.map((project) => [project.id, project])),
    byRepository: Map.groupBy(withRepository, ({ repository }) => repository),
  }
  return groups.map((group) => suggestionOf(group, known))
}

function textsOf({ parts }: SuggestionGroup): string[] {
  if (parts.length > PARTS_LIMIT) return []
  return parts.flatMap(({ labels, summaries }) => [labels[BRANCH] ?? '', ...summaries])
}

type Place = Pick<Suggestion, 'project' | 'ticket'>

/** The first known ticket of a text, otherwise the first key whose prefix is the name of a project. */
function placeIn(text: string, known: Known): Place | undefined {
  const keys = ticketKeysIn(text)
  const ticket = keys.map((key) => known.tickets.get(foldName(key))).find((found) => found !== undefined)
  if (ticket) return placeOfTicket(ticket, known)
  for (const key of keys) {
    const project = projectOfKey(key, known)
    if (project) return { project, ticket: key }
  }
  return undefined
}

/** Undefined for a ticket whose project is archived: nothing can be placed there. */
function placeOfTicket({ key, projectId }: SuggestedTicket, known: Known): Place | undefined {
  if (projectId === null) return { project: projectOfKey(key, known) ?? null, ticket: key }
  const project = known.projectsById.get(projectId)
  return project && { project, ticket: key }
}

const projectOfKey = (key: string, { projects }: Known): SuggestedProject | undefined =>
  projects.get(foldName(ticketPrefix(key) ?? ''))

/** Pure. */
export function suggestionOf({ repository, parts }: SuggestionGroup, known: Known): Suggested {
  const considered = parts.length > PARTS_LIMIT ? [] : parts
  const branches = considered.map(({ labels }) => placeIn(labels[BRANCH] ?? '', known))
  const summaries = considered.map(({ summaries }) => commonOf(summaries.map((summary) => placeIn(summary, known))))
  const places = branches.map((place, at) => place ?? summaries[at])
  const from = branches.every((place) => place !== undefined) ? 'branch' : 'summary'
  const common = commonOf(places)
  const found: Suggestion | undefined = common && { ...common, from }
  return {
    suggestion: found ?? byRepository(repository, known),
    branchPattern: patternOf(branches.flatMap((place) => place?.ticket ?? [])),
  }
}

/** The place that all of them are, or at least its project; undefined if there is neither. */
function commonOf(places: readonly (Place | undefined)[]): Place | undefined {
  const [first] = places
  if (!first || places.some((place) => !place || place.project?.id !== first.project?.id)) return undefined
  if (places.every((place) => place!.ticket !== null && foldName(place!.ticket) === foldName(first.ticket ?? ''))) {
    return first
  }
  return first.project ? { project: first.project, ticket: null } : undefined
}

function byRepository(repository: string | undefined, known: Known): Suggestion | null {
  const projects = repository === undefined ? undefined : known.byRepository.get(repository)
  return projects?.length === 1 ? { project: projects[0]!, ticket: null, from: 'repository' } : null
}

/** `/(?:^|[^a-z0-9])(?<ticket>acme-[0-9]+)/i`, if all keys have the prefix `acme-`. */
function patternOf(keys: readonly string[]): string | null {
  const prefixes = new Set(keys.map((key) => foldName(key).replace(/\d+$/, '')))
  const [prefix] = prefixes
  if (prefixes.size !== 1 || prefix === undefined) return null
  return `/(?:^|[^a-z0-9])(?<ticket>${escapeExpression(prefix)}[0-9]+)/i`
}
