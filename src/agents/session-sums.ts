/** Adds up the use of each model in each session. */
import { formatDecimal, parseDecimal } from '../lib/money.ts'
import type { Tokens } from './agent.ts'
import { addCounts, inputSideOf, type ModelCall, noCounts } from './model-calls.ts'

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
  /** False if it includes a sum that may contain a long request. */
  #isLengthKnown = true
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
    for (const part of call.parts ?? [counts]) {
      if (inputSideOf(part) <= LONG_CONTEXT_TOKENS) continue
      if (isSum) this.#isLengthKnown = false
      else addCounts(this.#long, part)
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
