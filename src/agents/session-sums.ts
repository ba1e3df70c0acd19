/** Adds up the use of each model in each session. */
import { formatDecimal, parseDecimal } from '../lib/money.ts'
import { REQUEST_THRESHOLDS } from '../lib/request-thresholds.ts'
import type { Counts, RequestsAbove, Service } from './agent.ts'
import { addCounts, inputSideOf, type ModelCall, noCounts, totalOf } from './model-calls.ts'

/** A sum, before git or the clock is consulted. Cached, so it must not contain anything of the conversation. */
export interface SessionSum {
  session: string
  model: string
  provider: string
  /** Times of the first and the last call, in milliseconds. */
  firstAt: number
  lastAt: number
  tokens: Counts
  requestsAbove: RequestsAbove[]
  service: Service
  tools: Record<string, number>
  requests: number
  /** Exact decimal text; empty where the cost of any call is unknown. */
  cost: string
  folder: string
  branch: string
  /** The URL of the repository, if the file contains it. */
  remote: string
}

/** Vendors' costs per call have fewer digits, and a JavaScript number has at most these. */
const COST_DIGITS = 18

/** One sum per session, model and service. */
export function sumCalls(calls: readonly ModelCall[]): SessionSum[] {
  const sums = new Map<string, Summing>()
  for (const call of calls) {
    const key = [call.session, call.model, ...servicesIn(call)].join('\n')
    const summing = sums.get(key)
    if (summing) summing.add(call)
    else sums.set(key, new Summing(call))
  }
  return [...sums.values()].map((summing) => summing.sum())
}

function servicesIn({ service }: ModelCall): (string | undefined)[] {
  return service ? [service.service_tier, service.speed, service.region] : []
}

class Summing {
  readonly #counts = noCounts()
  /** Undefined if it is not known of all calls. */
  readonly #above: (Counts | undefined)[] = REQUEST_THRESHOLDS.map(noCounts)
  readonly #tools = new Map<string, number>()
  #first: ModelCall
  #last: ModelCall
  #requests = 0
  #costs: bigint | undefined = 0n
  #branch = ''
  #branchAt = -1

  constructor(call: ModelCall) {
    this.#first = call
    this.#last = call
    this.add(call)
  }

  add(call: ModelCall): void {
    const { counts, at, branch, cost, requests = 1, isSum = requests > 1 } = call
    addCounts(this.#counts, counts)
    for (const part of call.parts ?? [counts]) this.#addLength(part, isSum)
    for (const [tool, uses] of Object.entries(call.tools ?? {})) {
      this.#tools.set(tool, (this.#tools.get(tool) ?? 0) + uses)
    }
    this.#requests += requests
    const units = cost === '' ? undefined : parseDecimal(cost, COST_DIGITS)
    this.#costs = this.#costs === undefined || units === undefined ? undefined : this.#costs + units
    if (at < this.#first.at) this.#first = call
    if (at >= this.#last.at) this.#last = call
    if (branch !== '' && at >= this.#branchAt) {
      this.#branch = branch
      this.#branchAt = at
    }
  }

  /** A sum of several calls that is longer than a threshold may contain a longer call, or none. */
  #addLength(counts: Counts, isSum: boolean): void {
    const length = inputSideOf(counts)
    for (const [index, threshold] of REQUEST_THRESHOLDS.entries()) {
      if (length <= threshold) break
      const above = this.#above[index]
      if (isSum) this.#above[index] = undefined
      else if (above) addCounts(above, counts)
    }
  }

  #requestsAbove(): RequestsAbove[] {
    const known = REQUEST_THRESHOLDS.flatMap((threshold, index) => {
      const counts = this.#above[index]
      return counts ? [{ threshold, ...counts }] : []
    })
    const end = known.findIndex((counts) => totalOf(counts) === 0)
    return end === -1 ? known : known.slice(0, end + 1)
  }

  sum(): SessionSum {
    const last = this.#last
    return {
      session: last.session,
      model: last.model,
      provider: last.provider,
      firstAt: this.#first.at,
      lastAt: last.at,
      tokens: this.#counts,
      requestsAbove: this.#requestsAbove(),
      service: last.service ?? {},
      tools: Object.fromEntries(this.#tools),
      requests: this.#requests,
      cost: this.#costs === undefined ? '' : formatDecimal(this.#costs, COST_DIGITS),
      folder: last.folder,
      branch: this.#branch,
      remote: last.remote ?? '',
    }
  }
}
