/** Parameters of what viewers ask for. Pure. */
import { foldName } from '../../lib/names.ts'
import { unknownName } from '../../lib/nearest-names.ts'
import { Query, type QueryTexts, queryReader } from '../../schema/query.ts'
import { namesPeople } from '../../shared/people-dimensions.ts'
import type { SeenProject, Sight } from './sight.ts'

export const SHARED_DIMENSIONS = ['client', 'project', 'ticket', 'model', 'agent_manager'] as const
export type SharedDimension = (typeof SHARED_DIMENSIONS)[number]

/** The project of each row decides what it shows: with it, they are as many as any report has. */
const DIMENSION_LIMIT = 2

export interface SharedUsageQuery {
  dimensions: SharedDimension[]
  /** What the filters select of the projects that the viewer sees. */
  projects: readonly SeenProject[]
  /** Whether only entries that are billed, or that are not; only of projects whose amounts are shown. */
  billed: boolean | undefined
  /** The remaining parameters, which are those of every report on usage. */
  texts: QueryTexts
}

/**
 * Throws 422 with every issue. What was not granted is as unknown as what does not exist, and in no suggestion.
 */
export function readSharedUsage(given: QueryTexts, { projects }: Pick<Sight, 'projects'>): SharedUsageQuery {
  const { group_by, client, project, billed: isBilled, ...texts } = given
  const query = new Query({ group_by, client, project, billed: isBilled })
  const dimensions = readDimensions(query, projects)
  const clients = projects.flatMap((each) => (each.showsClient ? [each.client!] : []))
  const clientIds = readNames(query, 'client', clients, ({ uid, name }) => [uid, name])
  const projectIds = readNames(query, 'project', projects, ({ uid, key, name }) => [uid, key, name])
  const billed = query.flag('billed')
  query.finish()
  return {
    dimensions,
    billed,
    projects: projects.filter(
      (each) =>
        (billed === undefined || each.money === 'amounts') &&
        (!projectIds || projectIds.has(each.id)) &&
        (!clientIds || (each.showsClient && clientIds.has(each.client!.id))),
    ),
    texts,
  }
}

function readDimensions(query: Query, projects: readonly SeenProject[]): SharedDimension[] {
  const dimensions = query.someOf('group_by', SHARED_DIMENSIONS) ?? []
  if (new Set(dimensions).size < dimensions.length) {
    query.refuse('group_by', 'not_allowed', 'must not contain duplicates')
  } else if (dimensions.length > DIMENSION_LIMIT) {
    query.refuse('group_by', 'too_many', `must have at most ${DIMENSION_LIMIT} values`)
  } else if (dimensions.some(namesPeople) && !projects.some(({ showsPeople }) => showsPeople)) {
    query.refuse('group_by', 'not_allowed', 'must not contain agent_manager: people are not shared with you')
  }
  return dimensions
}

/** The keys of what the values name; undefined without the parameter. */
function readNames<Named extends { id: number }>(
  query: Query,
  parameter: 'client' | 'project',
  known: readonly Named[],
  namesOf: (named: Named) => string[],
): Set<number> | undefined {
  const values = query.list(parameter)
  if (!values) return undefined
  const ids = new Map(known.flatMap((named) => namesOf(named).map((name) => [foldName(name), named.id] as const)))
  for (const value of values) {
    if (ids.has(foldName(value))) continue
    const names = known.flatMap((named) => namesOf(named).slice(1))
    const { code, message } = unknownName('', parameter, value, names)
    query.refuse(parameter, code, message)
  }
  return new Set(values.flatMap((value) => ids.get(foldName(value)) ?? []))
}

export const readFormat = queryReader((query) => query.format())

export const readSharedBills = queryReader((query) => {
  const { limit, after } = query.listPage()
  return { limit, after }
})
