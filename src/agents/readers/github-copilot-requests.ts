/** The requests of GitHub Copilot CLI, which its database and its events record with the same counts. */
import { formatDecimal } from '../../lib/money.ts'
import {
  CALL_DEFAULTS,
  countsOf,
  disjointCounts,
  findCountable,
  type ModelCall,
  type OnDamage,
  textOf,
} from '../model-calls.ts'
import { reportUnknownFields, tokenFields } from './known-fields.ts'

/** The names of the counts in one of the two. */
export type CountNames = readonly [input: string, output: string, cacheRead: string, cacheWrite: string]

export interface RecordedRequest extends Partial<Omit<ModelCall, 'at'>> {
  session: string
  at: number | undefined
  model: string
  usage: Record<string, unknown>
  nanoCredits: unknown
}

/** Neither has an identity that is also in the other: a request is the n-th one of its session with these counts. */
export class Requests {
  readonly calls: ModelCall[] = []
  readonly #counts = new Map<string, number>()
  /** The output includes the reasoning. */
  readonly #known: ReadonlySet<string>

  constructor(readonly names: CountNames) {
    this.#known = new Set([...names, 'reasoning_tokens', 'reasoningTokens'])
  }

  add({ usage, nanoCredits, at, model, ...request }: RecordedRequest, addDamage: OnDamage): void {
    const onDamage: OnDamage = (what, kind) => addDamage(`a request ${what}`, kind)
    // Without one of them, it would not be the same as in the other.
    const missing = this.names.filter((name) => usage[name] === undefined || usage[name] === null)
    if (missing.length > 0) return void onDamage(`has no ${missing.join(', ')}, and is not counted`)
    reportUnknownFields(tokenFields(usage), this.#known, onDamage)
    const [input, output, cached, written] = countsOf(usage, this.names, onDamage)
    const counts = disjointCounts({ input, cached, written, output, total: 0 })
    const countable = findCountable({ counts, at, model }, onDamage)
    if (!countable) return
    const session = request.owner || request.session
    const alike = [session, model, input, output, cached, written].join(' ')
    const number = (this.#counts.get(alike) ?? 0) + 1
    this.#counts.set(alike, number)
    const cost = costOf(nanoCredits, countable.at)
    this.calls.push({ ...CALL_DEFAULTS, ...request, ...countable, key: `${alike} ${number}`, cost })
  }
}

/** Since then, GitHub charges credits of a cent each for tokens. Before, it charged for requests. */
const CREDITS_SINCE = Date.parse('2026-06-01T00:00:00Z')

/** A billionth of a credit. */
const CREDIT_DIGITS = 11

/** Zero if another vendor charges for the request. */
function costOf(nanoCredits: unknown, at: number): string {
  const isCharge = typeof nanoCredits === 'number' && Number.isSafeInteger(nanoCredits) && nanoCredits > 0
  return isCharge && at >= CREDITS_SINCE ? formatDecimal(BigInt(nanoCredits), CREDIT_DIGITS) : ''
}

/** Only GitHub's names of repositories are also their paths. */
export function remoteOf({ repository, hostType }: { repository: unknown; hostType: unknown }): { remote?: string } {
  return hostType === 'github' && textOf(repository) !== '' ? { remote: `https://github.com/${repository}` } : {}
}
