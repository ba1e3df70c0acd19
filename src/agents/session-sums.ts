/** Adds up what each model used in each session. */
import { formatDecimal, parseDecimal } from '../lib/money.ts'
import type { Counts, Tokens } from './agent.ts'
import type { ModelCall } from './model-calls.ts'

/** A sum, before anything is asked of git or of the clock. Kept, so nothing of what was said may be in it. */
export interface SessionSum {
  session: string
  model: string
  provider: string
  /** Of the first and the last call, in milliseconds. */
  firstAt: number
  lastAt: number
  tokens: Tokens
  requests: number
  /** Exact decimal text; empty where the cost of any call is unknown. */
  cost: string
  folder: string
  branch: string
  /** The address of the repository, where the file says it. */
  remote: string
}

/** Requests with more input than this cost more at some vendors. */
const LONG_CONTEXT_TOKENS = 200_000

/** Vendors' own costs per call have fewer digits, and a number of JavaScript's has at most these. */
const COST_DIGITS = 18

/** One sum per session and model. */
export function sumCalls(calls: readonly ModelCall[]): SessionSum[] {
  const sums = new Map<string, Summing>()
  for (const call of calls) {
    const key = `${call.session}\n${call.model}`
    const summing = sums.get(key)
    if (summing) summing.add(call)
    else sums.set(key, new Summing(call))
  }
  return [...sums.values()].map((summing) => summing.sum())
}

class Summing {
  readonly #counts = noCounts()
  readonly #long = noCounts()
  #first: ModelCall
  #last: ModelCall
  #requests = 0
  #costs: bigint | undefined = 0n
  /** A sum of several requests does not say how long each of them was. */
  #isLengthKnown = true
  #branch = ''
  #branchAt = -1

  constructor(call: ModelCall) {
    this.#first = call
    this.#last = call
    this.add(call)
  }

  add(call: ModelCall): void {
    const { counts, at, branch, cost, requests = 1 } = call
    addCounts(this.#counts, counts)
    const length = counts.input + counts.cache_read + counts.cache_write + counts.cache_write_1h
    if (requests > 1) this.#isLengthKnown = false
    else if (length > LONG_CONTEXT_TOKENS) addCounts(this.#long, counts)
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

  sum(): SessionSum {
    const last = this.#last
    return {
      session: last.session,
      model: last.model,
      provider: last.provider,
      firstAt: this.#first.at,
      lastAt: last.at,
      tokens: { ...this.#counts, ...(this.#isLengthKnown ? { over_200k: this.#long } : {}) },
      requests: this.#requests,
      cost: this.#costs === undefined ? '' : formatDecimal(this.#costs, COST_DIGITS),
      folder: last.folder,
      branch: this.#branch,
      remote: last.remote ?? '',
    }
  }
}

function noCounts(): Counts {
  return { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0 }
}

function addCounts(sum: Counts, counts: Counts): void {
  sum.input += counts.input
  sum.output += counts.output
  sum.cache_read += counts.cache_read
  sum.cache_write += counts.cache_write
  sum.cache_write_1h += counts.cache_write_1h
}
