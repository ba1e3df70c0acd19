/** Adds up the use of each model in each session, by place and quarter of an hour. */
import { formatDecimal, parseDecimal } from '../lib/money.ts'
import { REQUEST_THRESHOLDS } from '../lib/request-thresholds.ts'
import type { Cell, Counts, Place, RequestsAbove, Service } from './agent.ts'
import { addCounts, inputSideOf, type ModelCall, noCounts, totalOf } from './model-calls.ts'

/** Cached, so it must not contain anything of the conversation. */
export interface SessionSum {
  session: string
  model: string
  provider: string
  service: Service
  /** Where the agent worked last. */
  folder: string
  /** Ordered by start. */
  cells(): readonly Cell[]
  /** The sums of the cells by UTC day and place. */
  days: readonly Cell[]
  /** The sum of all of them, at the last repository and the last branch. */
  whole: Cell
}

/** The offsets of all time zones are multiples of it, so that each cell is of one day in all of them. */
const QUARTER_MS = 15 * 60_000
const DAY_MS = 24 * 60 * 60_000

/** Vendors' costs per call have fewer digits, and a JavaScript number has at most these. */
const COST_DIGITS = 18

/** Returns the same object for the same place. */
export type PlaceOf = (call: ModelCall) => Place

/** One sum per session, model and service. */
export function sumCalls(calls: readonly ModelCall[], placeOf: PlaceOf): SessionSum[] {
  const sums = new Map<string, Map<string, SessionSumming>>()
  for (const call of calls) {
    const { session, model, service } = call
    const own = sums.get(session) ?? new Map<string, SessionSumming>()
    if (own.size === 0) sums.set(session, own)
    const key = service ? [model, service.service_tier, service.speed, service.region].join('\n') : model
    const summing = own.get(key)
    if (summing) summing.add(call, placeOf(call))
    else own.set(key, new SessionSumming(call, placeOf(call)))
  }
  return [...sums.values()].flatMap((own) => [...own.values()].map((summing) => summing.sum()))
}

class SessionSumming {
  readonly #cells = new Map<Place, Map<number, CellSumming>>()
  /** The cell of the latest call, which is mostly that of the next one too. */
  #latest: CellSumming | undefined
  #last: ModelCall

  constructor(call: ModelCall, place: Place) {
    this.#last = call
    this.add(call, place)
  }

  add(call: ModelCall, place: Place): void {
    const quarter = Math.floor(call.at / QUARTER_MS)
    if (this.#latest?.place !== place || this.#latest.quarter !== quarter) this.#latest = this.#cellAt(place, quarter)
    this.#latest.addCall(call)
    if (call.at >= this.#last.at) this.#last = call
  }

  #cellAt(place: Place, quarter: number): CellSumming {
    const quarters = this.#cells.get(place) ?? new Map<number, CellSumming>()
    const cell = quarters.get(quarter) ?? new CellSumming(place, quarter)
    this.#cells.set(place, quarters.set(quarter, cell))
    return cell
  }

  sum(): SessionSum {
    const { session, model, provider, service = {}, folder } = this.#last
    const cells: Cell[] = []
    const days: Cell[] = []
    for (const quarters of this.#cells.values()) {
      const own = [...quarters.values()].map((cell) => cell.cell())
      cells.push(...own)
      days.push(
        ...Map.groupBy(own, ({ firstAt }) => Math.floor(firstAt / DAY_MS))
          .values()
          .map(sumCells),
      )
    }
    cells.sort(byStart)
    days.sort(byStart)
    return { session, model, provider, service, folder, cells: () => cells, days, whole: wholeOf(days) }
  }
}

function wholeOf(days: readonly Cell[]): Cell {
  const { repository } = lastOf(days)!.place
  const branch = lastOf(days.filter(({ place }) => place.branch !== null))?.place.branch ?? null
  return { ...sumCells(days), place: { repository, branch } }
}

/** The cell with the last call. */
function lastOf(cells: readonly Cell[]): Cell | undefined {
  return cells.reduce<Cell | undefined>((last, cell) => (last && last.lastAt > cell.lastAt ? last : cell), undefined)
}

function byStart(one: Cell, other: Cell): number {
  return one.firstAt - other.firstAt
}

/** The sum of cells, at their place; at none if they have several. */
export function sumCells(cells: readonly Cell[]): Cell {
  const [first] = cells
  if (cells.length === 1) return first!
  const { repository, branch } = first!.place
  const areTogether = cells.every(({ place }) => place.repository === repository && place.branch === branch)
  const summing = new CellSumming(areTogether ? first!.place : NOWHERE)
  for (const cell of cells) summing.addCell(cell)
  return summing.cell()
}

const NOWHERE: Place = { repository: null, branch: null }

class CellSumming {
  readonly #tokens = noCounts()
  /** By threshold, as far as any request exceeds them. Undefined if it is not known of all calls. */
  readonly #above: (Counts | undefined)[] = []
  readonly #tools = new Map<string, number>()
  #firstAt = Number.POSITIVE_INFINITY
  #lastAt = Number.NEGATIVE_INFINITY
  #requests = 0
  #costs: bigint | undefined = 0n
  #activeMs: number | null = null

  constructor(
    readonly place: Place,
    readonly quarter?: number,
  ) {}

  addCall(call: ModelCall): void {
    const { counts, at, cost, requests = 1, isSum = requests > 1, parts, tools, activeMs } = call
    this.#addUse(at, at, counts, tools, requests, cost)
    this.#addTime(activeMs)
    if (parts) for (const part of parts) this.#addLength(part, isSum)
    else this.#addLength(counts, isSum)
  }

  addCell({ firstAt, lastAt, tokens, tools, requests, reportedCost, activeMs, requestsAbove }: Cell): void {
    this.#addUse(firstAt, lastAt, tokens, tools, requests, reportedCost ?? '')
    this.#addTime(activeMs)
    for (const [index, threshold] of REQUEST_THRESHOLDS.entries()) {
      const known = requestsAbove.find((each) => each.threshold >= threshold)
      // Nothing is longer than a threshold that no request exceeds.
      if (!known && requestsAbove.some(isZero)) break
      if (known?.threshold !== threshold) this.#addAbove(index, undefined)
      else if (!isZero(known)) this.#addAbove(index, known)
    }
  }

  #addUse(
    firstAt: number,
    lastAt: number,
    tokens: Counts,
    tools: Record<string, number> | undefined,
    requests: number,
    cost: string,
  ): void {
    addCounts(this.#tokens, tokens)
    for (const tool in tools) this.#tools.set(tool, (this.#tools.get(tool) ?? 0) + tools[tool]!)
    if (firstAt < this.#firstAt) this.#firstAt = firstAt
    if (lastAt > this.#lastAt) this.#lastAt = lastAt
    this.#requests += requests
    const units = cost === '' || this.#costs === undefined ? undefined : parseDecimal(cost, COST_DIGITS)
    this.#costs = units === undefined ? undefined : this.#costs! + units
  }

  #addTime(activeMs: number | null): void {
    if (activeMs !== null) this.#activeMs = (this.#activeMs ?? 0) + activeMs
  }

  /** A sum of several calls that is longer than a threshold may contain a longer call, or none. */
  #addLength(counts: Counts, isSum: boolean): void {
    const length = inputSideOf(counts)
    for (let index = 0; length > (REQUEST_THRESHOLDS[index] ?? length); index++) {
      this.#addAbove(index, isSum ? undefined : counts)
    }
  }

  #addAbove(index: number, counts: Counts | undefined): void {
    while (this.#above.length <= index) this.#above.push(noCounts())
    const above = this.#above[index]
    if (counts === undefined) this.#above[index] = undefined
    else if (above) addCounts(above, counts)
  }

  #requestsAbove(): RequestsAbove[] {
    const above = this.#above
    const known: RequestsAbove[] = []
    for (let index = 0; index < above.length; index++) {
      const counts = above[index]
      if (counts) known.push({ threshold: REQUEST_THRESHOLDS[index]!, ...counts })
    }
    const next = REQUEST_THRESHOLDS[above.length]
    if (next !== undefined) known.push({ threshold: next, ...noCounts() })
    return known
  }

  cell(): Cell {
    return {
      place: this.place,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      tokens: this.#tokens,
      requestsAbove: this.#requestsAbove(),
      tools: Object.fromEntries(this.#tools),
      requests: this.#requests,
      reportedCost: this.#costs === undefined ? null : formatDecimal(this.#costs, COST_DIGITS),
      activeMs: this.#activeMs,
    }
  }
}

function isZero(counts: Counts): boolean {
  return totalOf(counts) === 0
}
