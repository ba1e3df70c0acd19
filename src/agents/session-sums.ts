/** Adds up the use of each model in each session. */
import { formatDecimal, parseDecimal } from '../lib/money.ts'
import type { Counts, Tokens } from './agent.ts'
import type { ModelCall } from './model-calls.ts'

/** A sum, before git or the clock is consulted. Cached, so it must not contain anything of the conversation. */
export interface SessionSum {
  session: string
  model: string
  provider: string
  /** Times of the first and the last call, in milliseconds. */
  firstAt: number
  lastAt: number
  tokens: Tokens
  requests: number
  /** Exact decimal text; empty where the cost of any call is unknown. */
  cost: string
  folder: string
  branch: string
  /** The URL of the repository, if the file contains it. */
  remote: string
}

/** Some vendors charge more for requests with more input than this. */
const LONG_CONTEXT_TOKENS = 200_000

/** Vendors' costs per call have fewer digits, and a JavaScript number has at most these. */
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
  /** False if a sum of several requests is included, which does not contain the length of each. */
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
