/**
 * Unattributed entries, grouped by their common fields, so that a person can place a group at once or create a rule for
 * it: by repository if the agent sent one, otherwise by person, harness and agent.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { firstCharacters } from '../../lib/characters.ts'
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import { timestamp } from '../../lib/duration.ts'
import { escapeExpression } from '../../lib/expressions.ts'
import { moneyNumber } from '../../lib/money.ts'
import { pageOf } from '../../schema/lists.ts'
import { queryReader, writeKeyPage } from '../../schema/query.ts'
import type { EntriesService } from '../entries/service.ts'
import { conditionOf, type EntryFilter, listPath, readFilter } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import { type Circumstances, type RankedQuery, readRanked } from './query.ts'
import { settledRead } from './settled-sums.ts'
import { type Alike, listAlike, listEntryUids, type Manager, sumNowhere } from './store/unattributed.ts'
import { NO_SUGGESTION, type Suggested, type Suggestion, type SuggestionPart, suggestionsFor } from './suggestions.ts'
import type { UnattributedGroup, UnattributedReport } from './unattributed-schema.ts'
import { tokensBody } from './wire.ts'

/** The label that best identifies the work of an entry; agents' own hooks and readers send it. */
const REPOSITORY = 'repository'

export type UnattributedQuery = Pick<RankedQuery, 'filter' | 'limit' | 'after' | 'format'>

export const readUnattributed = queryReader((query, { timeZone }: Pick<Circumstances, 'timeZone'>) => ({
  filter: readFilter(query, timeZone),
  ...readRanked(query),
}))

/** A condition as in placement rules. */
interface Condition {
  field: string
  matches: string
}

export interface Group extends Omit<Alike, 'manager' | 'harness' | 'agent' | 'labels' | 'summaries'> {
  repository: string | undefined
  /** Null if the entries have different managers. */
  manager: Manager | null
  harness: string | null
  agent: string | null
  /** For each label that all of them have: the value, or the prefix of all values. */
  labels: Map<string, Shared>
  /** For each set of labels. */
  parts: SuggestionPart[]
}

/** The common part of values: a single one, or the prefix of several. */
interface Shared {
  start: string
  isWhole: boolean
}

interface UnattributedDependencies {
  db: Database
  billing: Pick<EntriesService['billing'], 'settled'>
}

export function createUnattributed({ db, billing }: UnattributedDependencies) {
  async function groupsFor(viewer: Viewer, filter: EntryFilter): Promise<Group[]> {
    const condition = conditionOf(db.slow, counted(filter))
    return groupsOf(await listAlike(db.slow, { viewer, condition }))
  }

  async function bodiesOf(
    groups: Group[],
    { filter, suggested }: { filter: EntryFilter; suggested: readonly Suggested[] },
  ): Promise<UnattributedGroup[]> {
    const uids = await listEntryUids(
      db.slow,
      groups.map(({ exampleKey }) => exampleKey),
    )
    return groups.map((group, at) => groupBody(group, filter, uids.get(group.exampleKey) ?? '', suggested[at]))
  }

  return {
    /** A page of groups, the highest cost first. */
    async unattributed(viewer: Viewer, { filter, limit, after }: UnattributedQuery): Promise<UnattributedReport> {
      const condition = conditionOf(db.slow, counted(filter))
      const [groups, nowhere] = await settledRead(billing, filter, () =>
        Promise.all([groupsFor(viewer, filter), sumNowhere(db.slow, { viewer, condition })]),
      )
      const page = pageOf(groups.slice(after, after + limit + 1), limit, () => writeKeyPage(after + limit))
      return {
        totals: {
          groups: groups.length,
          entries: groups.reduce((sum, { entries }) => sum + entries, 0),
          unpriced_entries: groups.reduce((sum, { unpricedEntries }) => sum + unpricedEntries, 0),
          cost: moneyNumber(groups.reduce<bigint | null>((sum, { costNanos }) => add(sum, costNanos), null)),
        },
        placed_on_nothing: { entries: nowhere.entries, cost: moneyNumber(nowhere.costNanos) },
        ...page,
        data: await bodiesOf(page.data, { filter, suggested: await suggestionsFor(db.slow, viewer, page.data) }),
      }
    },

    async *exportUnattributed(viewer: Viewer, { filter }: UnattributedQuery): AsyncGenerator<UnattributedGroup> {
      const groups = await settledRead(billing, filter, () => groupsFor(viewer, filter))
      yield* await bodiesOf(groups, { filter, suggested: [] })
    },
  }
}

/** Groups of similar entries, the highest cost first, then the most entries. */
export function groupsOf(alike: Alike[]): Group[] {
  const groups = new Map<string, Group>()
  for (const one of alike) {
    const repository = one.labels[REPOSITORY]
    const key = JSON.stringify(repository ?? [one.manager.uid, one.harness, one.agent])
    const group = groups.get(key)
    if (group) addTo(group, one)
    else {
      const { summaries, ...first } = one
      groups.set(key, {
        ...first,
        repository,
        labels: sharedOf(one.labels),
        parts: [{ labels: one.labels, summaries }],
      })
    }
  }
  return [...groups.values()].sort(
    (one, other) =>
      compare(other.costNanos ?? -1n, one.costNanos ?? -1n) ||
      other.entries - one.entries ||
      compare(one.exampleKey, other.exampleKey),
  )
}

function compare<T extends bigint | number>(one: T, other: T): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function add(one: bigint | null, other: bigint | null): bigint | null {
  return one === null || other === null ? (one ?? other) : one + other
}

function sharedOf(labels: Alike['labels']): Map<string, Shared> {
  return new Map(Object.entries(labels).map(([name, value]) => [name, { start: value, isWhole: true }]))
}

function addTo(group: Group, one: Alike): void {
  group.parts.push(one)
  group.entries += one.entries
  group.unpricedEntries += one.unpricedEntries
  for (const kind of Object.keys(group.tokens) as (keyof Alike['tokens'])[]) group.tokens[kind] += one.tokens[kind]
  group.costNanos = add(group.costNanos, one.costNanos)
  group.firstAt = Math.min(group.firstAt, one.firstAt)
  group.lastAt = Math.max(group.lastAt, one.lastAt)
  group.exampleKey = Math.max(group.exampleKey, one.exampleKey)
  if (group.manager?.uid !== one.manager.uid) group.manager = null
  if (group.harness !== one.harness) group.harness = null
  if (group.agent !== one.agent) group.agent = null
  if (group.model !== one.model) group.model = null
  for (const [name, shared] of group.labels) {
    const value = one.labels[name]
    if (value === undefined) group.labels.delete(name)
    else if (!shared.isWhole || shared.start !== value) {
      group.labels.set(name, { start: beginningOf(shared.start, value), isWhole: false })
    }
  }
}

/** The longest common prefix that ends at a separator of branch and ticket names: `feature/ACME-`. */
function beginningOf(one: string, other: string): string {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return /^.*[/_.#:-]/.exec(one.slice(0, length))?.[0] ?? ''
}

/** Characters with a special meaning in globs. */
const GLOB_SIGN = /[*?\\]/

/** The condition that matches these texts; undefined if they have nothing in common. */
function conditionOn(field: string, { start, isWhole }: Shared): Condition | undefined {
  if (start === '' && !isWhole) return undefined
  // A leading slash could make it a regular expression.
  const isPlain = start !== '' && !start.startsWith('/') && !GLOB_SIGN.test(start)
  return { field, matches: isPlain ? (isWhole ? start : `${start}*`) : expressionOf(start, isWhole) }
}

function expressionOf(start: string, isWhole: boolean): string {
  return `/^${escapeExpression(start)}${isWhole ? '$' : ''}/`
}

/** Everything that all entries of the group have in common, as conditions. */
function commonOf(group: Group): Condition[] {
  const whole = (start: string) => ({ start, isWhole: true })
  const features: [string, Shared | null][] = [
    ...[...group.labels].map(([name, shared]): [string, Shared] => [`labels.${name}`, shared]),
    ['agent_harness', group.harness === null ? null : whole(group.harness)],
    ['agent_name', group.agent === null ? null : whole(group.agent)],
    ['agent_manager', group.manager && whole(group.manager.email)],
    ['model', group.model === null ? null : whole(group.model)],
  ]
  return features.flatMap(([field, shared]) => (shared && conditionOn(field, shared)) ?? [])
}

/** The common conditions that define the group. */
function conditionsOf({ repository }: Group, common: Condition[]): Condition[] {
  const fields = repository === undefined ? ['agent_harness', 'agent_name', 'agent_manager'] : [`labels.${REPOSITORY}`]
  return common.filter(({ field }) => fields.includes(field))
}

function nameOf({ repository, agent, harness, manager }: Group): string {
  if (repository !== undefined) return repository || 'unnamed repository'
  return `${agent} · ${harness} · ${manager!.name}`
}

/** The maximum length of a rule's name. */
const NAME_LIMIT = 200

export function groupBody(
  group: Group,
  filter: EntryFilter,
  example: string,
  { suggestion, branchPattern }: Suggested = NO_SUGGESTION,
): UnattributedGroup {
  const { repository, manager, harness, agent, model } = group
  const common = commonOf(group)
  const name = nameOf(group)
  return {
    name,
    entries: group.entries,
    unpriced_entries: group.unpricedEntries,
    tokens: tokensBody(group.tokens),
    cost: moneyNumber(group.costNanos),
    first_at: timestamp(group.firstAt),
    last_at: timestamp(group.lastAt),
    repository: repository ?? null,
    agent_manager: manager && { id: manager.uid, name: manager.name },
    agent_harness: harness,
    agent_name: agent,
    model,
    common,
    rule: { name: firstCharacters(name, NAME_LIMIT), conditions: conditionsOf(group, common) },
    suggestion: suggestion && suggestionBody(suggestion),
    branch_pattern: branchPattern,
    example,
    list: listPath(filterOf(group, filter)),
  }
}

const suggestionBody = ({ project, ticket, from }: Suggestion) => ({
  project: project && { id: project.uid, key: project.key, name: project.name },
  ticket,
  from,
})

/** The filter that matches exactly the entries of the group. */
function filterOf({ repository, manager, harness, agent }: Group, filter: EntryFilter): EntryFilter {
  const own: EntryFilter =
    repository === undefined
      ? {
          agent_manager: [manager!.uid],
          agent_harness: [harness!],
          agent_name: [agent!],
          without_label: [REPOSITORY],
        }
      : {
          label: [
            ...(filter.label ?? []).filter(({ name }) => name !== REPOSITORY),
            { name: REPOSITORY, value: repository },
          ],
        }
  return { ...counted(filter), placed: ['none'], ...own }
}

export const UNATTRIBUTED_COLUMNS: CsvColumn<UnattributedGroup>[] = [
  { heading: 'group', cell: (row) => row.name },
  ...fieldColumns<UnattributedGroup>('entries', 'unpriced_entries'),
  { heading: 'total', cell: (row) => JSON.stringify(row.tokens.total) },
  { heading: 'cost', cell: (row) => (row.cost === null ? null : JSON.stringify(row.cost)) },
  ...fieldColumns<UnattributedGroup>('first_at', 'last_at', 'repository'),
  { heading: 'agent_manager', cell: (row) => row.agent_manager?.name },
  ...fieldColumns<UnattributedGroup>('agent_harness', 'agent_name', 'model'),
  { heading: 'common', cell: (row) => row.common.map(({ field, matches }) => `${field}=${matches}`).join(' ') },
  { heading: 'example', cell: (row) => row.example },
]
