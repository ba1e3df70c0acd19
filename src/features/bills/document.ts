/**
 * The document of a bill, composed from its entries. Pure: the same entries, terms and names result in the same
 * document to the byte.
 */

import type { Days } from '../../lib/calendar.ts'
import { IntegerSum } from '../../lib/integer-sum.ts'
import { decimalNumber, moneyNumber, type Nanos, RATE_DIGITS } from '../../lib/money.ts'
import { apportion, billedExactly, type Exact, PPM_DIGITS, taxOn } from './amounts.ts'
import type { BillDocument, BillLine, BillSection } from './schema.ts'

/** Dimensions that lines can be grouped by; `label:` is followed by the label's name. */
export const LINE_DIMENSIONS = ['project', 'ticket', 'model', 'agent_manager', 'agent_name'] as const
export type LineDimension = (typeof LINE_DIMENSIONS)[number] | `label:${string}`

/** Milliseconds are decimals of seconds. */
const MILLI_DIGITS = 3

/** An entry with the fields that a bill needs. */
export interface BillableEntry {
  id: number
  status: 'submitted' | 'approved'
  /** Whether it is from before the period and was never billed. */
  isEarlier: boolean
  projectId: number | null
  ticketId: number | null
  modelId: number
  agentId: number
  managerId: number
  labelSetId: number | null
  sessionId: number | null
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cacheWrite1h: number
  /** Null if unknown. */
  activeMs: number | null
  /** On the basis of the bill. */
  costNanos: Nanos
  listValueNanos: Nanos | null
  /** What a bill by marginal or allocated cost keeps of it: what was paid extra, and the share of the fee. */
  paid?: { charge: Nanos; fee: Nanos | null }
  /** The number of entries whose amounts these are the sums of, if it is not one. */
  entries?: number
}

/** The projects of entries, and the objects that their lines are grouped by, with their names at the time of the bill. */
export interface BillNames {
  projects: Map<number, { uid: string; key: string; name: string; markupPpm: number }>
  tickets: Map<number, { uid: string; key: string; title: string | null }>
  /** Models and agents. */
  names: Map<number, string>
  managers: Map<number, { uid: string; name: string }>
  labelSets: Map<number, Record<string, string>>
  /** The markup of entries without a project. */
  markupPpm: number
}

export interface BillTerms {
  groupBy: readonly LineDimension[]
  currency: string
  minorDigits: number
  /** Units of the bill's currency per dollar, as an integer of 10^-10. */
  rate: bigint
  extraLines: readonly { text: string; amountMinor: bigint }[]
  tax: { name: string; ppm: number } | null
  showCost: boolean
  showActiveTime: boolean
}

/** The parts of the document that do not depend on entries. */
export type Heading = Pick<
  BillDocument,
  | 'kind'
  | 'number'
  | 'issued_on'
  | 'due_on'
  | 'time_zone'
  | 'locale'
  | 'issuer'
  | 'recipient'
  | 'scope'
  | 'purchase_order'
  | 'note'
  | 'footer'
  | 'replaces'
  | 'corrects'
  | 'basis'
  | 'provisional'
  | 'left_out'
  | 'unused_seats'
> & { period: Days }

export interface Composed {
  document: BillDocument
  /** The keys of the entries of each line, in the order of the lines. */
  idsOfLines: number[][]
  subtotalMinor: bigint
  taxMinor: bigint
  costNanos: Nanos
  listValueNanos: Nanos
}

/** The sums of a line while entries are added to it. */
interface Sums {
  isEarlier: boolean
  keys: BillLine['keys']
  order: string
  entries: number
  sessions: Set<number>
  withoutSession: number
  /** Ten thousand entries of 10^12 tokens exceed the exact range of a number. */
  tokens: Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h', IntegerSum>
  activeMs: IntegerSum
  untimed: number
  listValueNanos: IntegerSum
  /** By markup, since the amount is linear in the cost for each of them. */
  costByMarkup: Map<number, IntegerSum>
  ids: number[]
}

function costOf({ costByMarkup }: Sums): Nanos {
  return costByMarkup.values().reduce((sum, cost) => sum + cost.value, 0n)
}

/** Lines with earlier entries come first; then by name, with numbers in names by value, and empty names last. */
const collator = new Intl.Collator('en', { numeric: true })

export function composeBill(
  entries: readonly BillableEntry[],
  names: BillNames,
  terms: BillTerms,
  heading: Heading,
): Composed {
  const lines = sumLines(entries, names, terms.groupBy)
  const exact = lines.map(({ costByMarkup }) => exactAmount(costByMarkup, terms))
  const amounts = apportion(exact, terms.minorDigits)
  const money = (minor: bigint) => decimalNumber(minor, terms.minorDigits)
  const wireLines = lines.map((line, index): BillLine & { isEarlier: boolean } => ({
    isEarlier: line.isEarlier,
    ...wireLine(line, index + 1, terms),
    amount: money(amounts[index]!),
  }))
  const section = (isEarlier: boolean, title: string | null): BillSection[] => {
    const own = wireLines.filter((line) => line.isEarlier === isEarlier)
    return own.length === 0 ? [] : [{ title, lines: own.map(({ isEarlier: _, ...line }) => line) }]
  }
  const extraMinor = terms.extraLines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  const subtotalMinor = amounts.reduce((sum, amount) => sum + amount, 0n) + extraMinor
  const taxMinor = terms.tax ? taxOn(subtotalMinor, terms.tax.ppm) : 0n
  const costNanos = lines.reduce((sum, line) => sum + costOf(line), 0n)
  const listValueNanos = lines.reduce((sum, line) => sum + line.listValueNanos.value, 0n)
  const document: BillDocument = {
    ...heading,
    currency: terms.currency,
    minor_digits: terms.minorDigits,
    exchange_rate: decimalNumber(terms.rate, RATE_DIGITS),
    group_by: [...terms.groupBy],
    show_cost: terms.showCost,
    ...(terms.showActiveTime && { show_active_time: true }),
    sections: [...section(false, null), ...section(true, 'Earlier usage')],
    extra_lines: terms.extraLines.map(({ text, amountMinor }) => ({ text, amount: money(amountMinor) })),
    entries: lines.reduce((sum, line) => sum + line.entries, 0),
    cost: moneyNumber(costNanos),
    list_value: moneyNumber(listValueNanos),
    subtotal: money(subtotalMinor),
    tax: terms.tax && {
      name: terms.tax.name,
      percent: decimalNumber(BigInt(terms.tax.ppm), PPM_DIGITS - 2),
      amount: money(taxMinor),
    },
    total: money(subtotalMinor + taxMinor),
  }
  return { document, idsOfLines: lines.map(({ ids }) => ids), subtotalMinor, taxMinor, costNanos, listValueNanos }
}

function exactAmount(costByMarkup: Sums['costByMarkup'], { rate }: BillTerms): Exact {
  let exact = 0n
  for (const [markupPpm, cost] of costByMarkup) exact += billedExactly(cost.value, { markupPpm, rate })
  return exact
}

function sumLines(entries: readonly BillableEntry[], names: BillNames, groupBy: readonly LineDimension[]): Sums[] {
  const lines: Sums[] = []
  const tree: LineTree = { branches: new Map() }
  for (const entry of entries) {
    let branch = branchOf(tree, entry.isEarlier ? 'earlier' : '')
    for (const dimension of groupBy) branch = branchOf(branch, groupKey(entry, dimension, names) ?? '')
    if (!branch.line) {
      const keys = Object.fromEntries(groupBy.map((dimension) => [dimension, shownKey(entry, dimension, names)]))
      branch.line = newSums(entry.isEarlier, keys, groupBy)
      lines.push(branch.line)
    }
    add(branch.line, entry, names)
  }
  return lines.sort(
    (one, other) => Number(one.isEarlier) - Number(other.isEarlier) || collator.compare(one.order, other.order),
  )
}

/** Lines by the key of each dimension. To compose one key of all of them takes longer than everything else of an entry. */
interface LineTree {
  branches: Map<string | number, LineTree>
  line?: Sums
}

function branchOf({ branches }: LineTree, key: string | number): LineTree {
  let branch = branches.get(key)
  if (!branch) {
    branch = { branches: new Map() }
    branches.set(key, branch)
  }
  return branch
}

function newSums(isEarlier: boolean, keys: BillLine['keys'], groupBy: readonly LineDimension[]): Sums {
  return {
    isEarlier,
    keys,
    order: groupBy.map((dimension) => textOf(keys[dimension] ?? null) ?? '\uffff').join('\u0000'),
    entries: 0,
    sessions: new Set(),
    withoutSession: 0,
    tokens: {
      input: new IntegerSum(),
      output: new IntegerSum(),
      cacheRead: new IntegerSum(),
      cacheWrite: new IntegerSum(),
      cacheWrite1h: new IntegerSum(),
    },
    activeMs: new IntegerSum(),
    untimed: 0,
    listValueNanos: new IntegerSum(),
    costByMarkup: new Map(),
    ids: [],
  }
}

function add(line: Sums, entry: BillableEntry, names: BillNames): void {
  line.ids.push(entry.id)
  line.entries += entry.entries ?? 1
  if (entry.sessionId === null) line.withoutSession += 1
  else line.sessions.add(entry.sessionId)
  line.tokens.input.add(entry.input)
  line.tokens.output.add(entry.output)
  line.tokens.cacheRead.add(entry.cacheRead)
  line.tokens.cacheWrite.add(entry.cacheWrite)
  line.tokens.cacheWrite1h.add(entry.cacheWrite1h)
  if (entry.activeMs === null) line.untimed += 1
  else line.activeMs.add(entry.activeMs)
  if (entry.listValueNanos !== null) line.listValueNanos.addExact(entry.listValueNanos)
  const markupPpm = markupOf(entry, names)
  let cost = line.costByMarkup.get(markupPpm)
  if (!cost) {
    cost = new IntegerSum()
    line.costByMarkup.set(markupPpm, cost)
  }
  cost.addExact(entry.costNanos)
}

function markupOf({ projectId }: BillableEntry, { projects, markupPpm }: BillNames): number {
  return projectId === null ? markupPpm : projects.get(projectId)!.markupPpm
}

function groupKey(entry: BillableEntry, dimension: LineDimension, names: BillNames): string | number | null {
  switch (dimension) {
    case 'project':
      return entry.projectId
    case 'ticket':
      return entry.ticketId
    case 'model':
      return entry.modelId
    case 'agent_manager':
      return entry.managerId
    case 'agent_name':
      return entry.agentId
    default:
      return labelOf(entry, dimension, names)
  }
}

function shownKey(entry: BillableEntry, dimension: LineDimension, names: BillNames): BillLine['keys'][string] {
  const project = entry.projectId === null ? undefined : names.projects.get(entry.projectId)
  const ticket = entry.ticketId === null ? undefined : names.tickets.get(entry.ticketId)
  const manager = names.managers.get(entry.managerId)
  switch (dimension) {
    case 'project':
      return project ? { id: project.uid, key: project.key, name: project.name } : null
    case 'ticket':
      return ticket ? { id: ticket.uid, key: ticket.key, name: ticket.title } : null
    case 'model':
      return names.names.get(entry.modelId) ?? null
    case 'agent_manager':
      return manager ? { id: manager.uid, name: manager.name } : null
    case 'agent_name':
      return names.names.get(entry.agentId) ?? null
    default:
      return labelOf(entry, dimension, names)
  }
}

function labelOf({ labelSetId }: BillableEntry, dimension: string, { labelSets }: BillNames): string | null {
  const labels = labelSetId === null ? undefined : labelSets.get(labelSetId)
  const name = dimension.slice('label:'.length)
  // A label may be named `constructor`, which every object has.
  return labels && Object.hasOwn(labels, name) ? labels[name]! : null
}

/** The text of a line's key in one dimension; undefined if its entries have no value there. */
export function textOf(key: BillLine['keys'][string]): string | undefined {
  if (key === null || typeof key === 'string') return key ?? undefined
  if (key.key === undefined) return key.name ?? undefined
  return key.name === null || key.name === key.key ? key.key : `${key.key} ${key.name}`
}

function wireLine(line: Sums, number: number, { groupBy, showActiveTime }: BillTerms): Omit<BillLine, 'amount'> {
  const { tokens } = line
  const [input, output] = [tokens.input.value, tokens.output.value]
  const [cacheRead, cacheWrite, cacheWrite1h] = [
    tokens.cacheRead.value,
    tokens.cacheWrite.value,
    tokens.cacheWrite1h.value,
  ]
  const [markupPpm] = line.costByMarkup.keys()
  const count = (sum: bigint) => decimalNumber(sum, 0)
  return {
    line: number,
    keys: Object.fromEntries(groupBy.map((dimension) => [dimension, line.keys[dimension] ?? null])),
    entries: line.entries,
    sessions: line.sessions.size + line.withoutSession,
    tokens: {
      input: count(input),
      output: count(output),
      cache_read: count(cacheRead),
      cache_write: count(cacheWrite),
      cache_write_1h: count(cacheWrite1h),
      total: count(input + output + cacheRead + cacheWrite + cacheWrite1h),
    },
    ...(showActiveTime && {
      active_seconds: line.untimed === line.entries ? null : decimalNumber(line.activeMs.value, MILLI_DIGITS),
      untimed_entries: line.untimed,
    }),
    cost: moneyNumber(costOf(line)),
    list_value: moneyNumber(line.listValueNanos.value),
    markup: line.costByMarkup.size === 1 ? decimalNumber(BigInt(markupPpm!), PPM_DIGITS - 2) : null,
  }
}
