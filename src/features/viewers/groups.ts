/**
 * The groups of a report for a viewer. What a row of sums shows is for the grant of its project to say, so sums are read by
 * project, and added up by what the viewer asked for. Pure.
 */
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import { namesPeople } from '../../shared/people-dimensions.ts'
import { type BilledAmount, billedAmountBody } from '../bills/service.ts'
import { type Key, type SumsRow, tokensBody } from '../reports/service.ts'
import type { SharedDimension } from './query.ts'
import type { SharedUsageFigures, SharedUsageResult } from './schema.ts'
import type { SeenProject } from './sight.ts'

type Tokens = SumsRow['tokens']

interface Figures {
  entries: number
  tokens: Tokens
  /** Of the projects whose cost is shown. */
  costEntries: number
  costNanos: Nanos | null
  /** Of the projects whose amounts are shown, the entries that are on bills. */
  amountEntries: number
  amounts: BilledAmount[]
}

export interface Group extends Figures {
  bucket: number
  keys: (Key | null)[]
}

const noFigures = (): Figures => ({
  entries: 0,
  tokens: { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n, cacheWrite1h: 0n },
  costEntries: 0,
  costNanos: null,
  amountEntries: 0,
  amounts: [],
})

export class SharedGroups {
  readonly #dimensions: readonly SharedDimension[]
  readonly #projects: ReadonlyMap<string, SeenProject>
  readonly #groups = new Map<string, Group>()
  /** The dimensions that sums are to be read by: the project, then those of the report that it does not decide. */
  readonly summedBy: readonly ('project' | 'ticket' | 'model' | 'agent_manager')[]

  constructor(dimensions: readonly SharedDimension[], projects: readonly SeenProject[]) {
    this.#dimensions = dimensions
    this.#projects = new Map(projects.map((project) => [project.uid, project]))
    this.summedBy = ['project', ...dimensions.filter((dimension) => dimension !== 'project' && dimension !== 'client')]
  }

  projectOf({ keys }: SumsRow): SeenProject {
    return this.#projects.get((keys[0] as { id: string }).id)!
  }

  of(row: SumsRow): Group {
    const project = this.projectOf(row)
    const keys = this.#dimensions.map((dimension) => {
      const at = (this.summedBy as readonly string[]).indexOf(dimension)
      return shownKey(dimension, project, row.keys[at] ?? null)
    })
    const name = JSON.stringify([row.bucket, keys])
    const group = this.#groups.get(name) ?? { bucket: row.bucket, keys, ...noFigures() }
    this.#groups.set(name, group)
    return group
  }

  /** Adds usage, and its cost if it is shown. */
  add(row: SumsRow): void {
    const group = this.of(row)
    const showsCost = this.projectOf(row).money === 'cost'
    addFigures(group, {
      ...noFigures(),
      entries: row.entries,
      tokens: row.tokens,
      ...(showsCost && { costEntries: row.entries - row.unpricedEntries, costNanos: row.costNanos }),
    })
  }

  totals(): SharedUsageFigures {
    const sums = noFigures()
    for (const group of this.#groups.values()) addFigures(sums, group)
    return figuresBody(sums)
  }

  /** The groups in a bucket. Never in the order of money, which would show what the rows do not. */
  results(bucket: number): SharedUsageResult[] {
    return [...this.#groups.values()]
      .filter((group) => group.bucket === bucket)
      .sort(mostTokensFirst)
      .map((group) => ({
        ...Object.fromEntries(this.#dimensions.map((dimension, at) => [dimension, group.keys[at]])),
        ...figuresBody(group),
      }))
  }
}

function shownKey(dimension: SharedDimension, project: SeenProject, summed: Key | null): Key | null {
  if (dimension === 'client')
    return project.showsClient ? { id: project.client!.uid, name: project.client!.name } : null
  return namesPeople(dimension) && !project.showsPeople ? null : summed
}

function addFigures(sums: Figures, more: Figures): void {
  sums.entries += more.entries
  for (const kind of Object.keys(sums.tokens) as (keyof Tokens)[]) sums.tokens[kind] += more.tokens[kind]
  sums.costEntries += more.costEntries
  if (more.costNanos !== null) sums.costNanos = (sums.costNanos ?? 0n) + more.costNanos
  sums.amountEntries += more.amountEntries
  sums.amounts.push(...more.amounts)
}

function figuresBody({ entries, tokens, costEntries, costNanos, ...billed }: Figures): SharedUsageFigures {
  return {
    entries,
    tokens: tokensBody(tokens),
    cost: moneyNumber(costNanos),
    cost_entries: costEntries,
    amounts: byCurrency(billed.amounts).map(billedAmountBody),
    amount_entries: billed.amountEntries,
  }
}

function byCurrency(amounts: readonly BilledAmount[]): BilledAmount[] {
  const sums = new Map<string, bigint>()
  for (const { currency, minor } of amounts) sums.set(currency, (sums.get(currency) ?? 0n) + minor)
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([currency, minor]) => ({ currency, minor }))
}

function mostTokensFirst(one: Group, other: Group): number {
  const [tokens, others] = [totalOf(one.tokens), totalOf(other.tokens)]
  if (tokens !== others) return tokens > others ? -1 : 1
  return JSON.stringify(one.keys) < JSON.stringify(other.keys) ? -1 : 1
}

const totalOf = (tokens: Tokens): bigint => Object.values(tokens).reduce((sum, count) => sum + count, 0n)
