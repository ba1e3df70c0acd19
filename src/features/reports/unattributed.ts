/**
 * Unattributed entries, grouped by their common fields, so that a person can place a group at once or create a rule for
 * it: by repository if the agent sent one, otherwise by person, harness and agent.
 */

import type { Viewer } from '../../access/visibility.ts'
import type { Database, Reader, SlowTask } from '../../database/database.ts'
import { firstCharacters } from '../../lib/characters.ts'
import { type CsvColumn, fieldColumns } from '../../lib/csv-column.ts'
import { timestamp } from '../../lib/duration.ts'
import { escapeExpression } from '../../lib/expressions.ts'
import { moneyNumber } from '../../lib/money.ts'
import { pageOf } from '../../schema/lists.ts'
import { queryReader, writeKeyPage } from '../../schema/query.ts'
import type { EntriesService } from '../entries/service.ts'
import { type EntryFilter, listPath, readFilter } from '../selection/contract.ts'
import { type Alike, listAlike } from './alike.ts'
import { counted } from './counted-entries.ts'
import { type Circumstances, type RankedQuery, readRanked } from './query.ts'
import { settledRead } from './settled-sums.ts'
import { listEntryUids, listSummaries, type Manager, sumNowhere } from './store/unattributed.ts'
import {
  NO_SUGGESTION,
  PARTS_LIMIT,
  type Suggested,
  type Suggestion,
  type SuggestionGroup,
  suggestionsFor,
} from './suggestions.ts'
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

export interface Group extends Omit<Alike, 'manager' | 'harness' | 'agent' | 'labels' | 'ids'> {
  repository: string | undefined
  /** Null if the entries have different managers. */
  manager: Manager | null
  harness: string | null
  agent: string | null
  /** For each label that all of them have: the value, or the prefix of all values. */
  labels: Map<string, Shared>
  /** For each person, harness, agent and set of labels. */
  parts: Pick<Alike, 'labels' | 'ids'>[]
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

interface UnattributedArgs {
  viewer: Viewer
  filter: EntryFilter
  /** Of the groups; with their suggestions. Absent for all groups, without. */
  page?: { from: number; to: number }
}

/** A group without what its suggestion is made of. */
interface SentGroup {
  group: Omit<Group, 'parts'>
  example: string
  suggested: Suggested | undefined
}

interface Unattributed extends Pick<Alike, 'entries' | 'unpricedEntries' | 'costNanos'> {
  /** The number of all groups. */
  count: number
  groups: SentGroup[]
  nowhere: Awaited<ReturnType<typeof sumNowhere>>
}

export const UNATTRIBUTED_TASK: SlowTask<UnattributedArgs, Unattributed> = {
  name: 'reports.unattributed',
  async run(reader, { viewer, filter, page }) {
    const all = groupsOf(await listAlike(reader, { viewer, filter }))
    const groups = page ? all.slice(page.from, page.to) : all
    const suggested = page ? await suggestionsFor(reader, viewer, await withSummaries(reader, groups)) : []
    const uids = await listEntryUids(
      reader,
      groups.map(({ exampleKey }) => exampleKey),
    )
    return {
      count: all.length,
      entries: all.reduce((sum, { entries }) => sum + entries, 0),
      unpricedEntries: all.reduce((sum, { unpricedEntries }) => sum + unpricedEntries, 0),
      costNanos: all.reduce<bigint | null>((sum, { costNanos }) => add(sum, costNanos), null),
      groups: groups.map(({ parts: _, ...group }, at) => ({
        group,
        example: uids.get(group.exampleKey) ?? '',
        suggested: suggested[at],
      })),
      nowhere: await sumNowhere(reader, { viewer, filter }),
    }
  },
}

/** What their suggestions are made of. */
async function withSummaries(reader: Reader, groups: readonly Group[]): Promise<SuggestionGroup[]> {
  const parts = groups.flatMap((group) => (group.parts.length > PARTS_LIMIT ? [] : group.parts))
  const found = await listSummaries(
    reader,
    parts.map(({ ids }) => ids),
  )
  const summaries = new Map(parts.map((part, at) => [part, found[at]!]))
  return groups.map(({ repository, parts }) => ({
    repository,
    parts: parts.map((part) => ({ labels: part.labels, summaries: summaries.get(part) ?? [] })),
  }))
}

export function createUnattributed({ db, billing }: UnattributedDependencies) {
  const read = (args: UnattributedArgs) =>
    settledRead(billing, args.filter, () => db.slowly(UNATTRIBUTED_TASK, { ...args, filter: counted(args.filter) }))

  return {
    /** A page of groups, the highest cost first. */
    async unattributed(viewer: Viewer, { filter, limit, after }: UnattributedQuery): Promise<UnattributedReport> {
      const found = await read({ viewer, filter, page: { from: after, to: after + limit + 1 } })
      const page = pageOf(found.groups, limit, () => writeKeyPage(after + limit))
      return {
        totals: {
          groups: found.count,
          entries: found.entries,
          unpriced_entries: found.unpricedEntries,
          cost: moneyNumber(found.costNanos),
        },
        placed_on_nothing: { entries: found.nowhere.entries, cost: moneyNumber(found.nowhere.costNanos) },
        ...page,
        data: page.data.map((one) => groupBody(one, filter)),
      }
    },

    async *exportUnattributed(viewer: Viewer, { filter }: UnattributedQuery): AsyncGenerator<UnattributedGroup> {
      for (const group of (await read({ viewer, filter })).groups) yield groupBody(group, filter)
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
      const { ids: _, ...first } = one
      groups.set(key, { ...first, repository, labels: sharedOf(one.labels), parts: [one] })
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
function commonOf(group: SentGroup['group']): Condition[] {
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
function conditionsOf({ repository }: SentGroup['group'], common: Condition[]): Condition[] {
  const fields = repository === undefined ? ['agent_harness', 'agent_name', 'agent_manager'] : [`labels.${REPOSITORY}`]
  return common.filter(({ field }) => fields.includes(field))
}

function nameOf({ repository, agent, harness, manager }: SentGroup['group']): string {
  if (repository !== undefined) return repository || 'unnamed repository'
  return `${agent} · ${harness} · ${manager!.name}`
}

/** The maximum length of a rule's name. */
const NAME_LIMIT = 200

export function groupBody({ group, example, suggested }: SentGroup, filter: EntryFilter): UnattributedGroup {
  const { repository, manager, harness, agent, model } = group
  const { suggestion, branchPattern } = suggested ?? NO_SUGGESTION
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
function filterOf({ repository, manager, harness, agent }: SentGroup['group'], filter: EntryFilter): EntryFilter {
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
