/**
 * How much of the limits of a plan, such as those of five hours and of a week, an agent says is used. A reading is sent only
 * while it is true: within the hour, and before its window ends.
 */
import type { AgentStatusReport } from '../features/agent-status/schema.ts'
import { LIMIT_BOUNDS } from '../shared/agents.ts'
import type { Limit } from './agent.ts'
import { type DamageKind, momentOf, objectOf, textOf } from './model-calls.ts'

type SentLimit = NonNullable<AgentStatusReport['agents'][number]['limits']>[number]

const HOUR_MS = 3_600_000

/** Clocks that are set back by less than this show no old readings. */
const SKEW_MS = 60_000

/** What the server accepts. */
const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/
const PLAN = /^[0-9A-Za-z][0-9A-Za-z_.:-]{0,99}$/

const keyOf = ({ name, windowMinutes }: Limit) => `${windowMinutes} ${name}`

/** The latest of each. */
export function latestLimits(limits: readonly Limit[]): Limit[] {
  const latest = new Map<string, Limit>()
  for (const limit of limits) {
    const known = latest.get(keyOf(limit))
    if (!known || limit.at >= known.at) latest.set(keyOf(limit), limit)
  }
  return [...latest.values()]
}

/** Those that are true now, as the server takes them, the newest first. */
export function sentLimits(limits: readonly Limit[], now: number): SentLimit[] {
  const isCurrent = ({ at, resetsAt }: Limit) =>
    now - at < HOUR_MS && at - now < SKEW_MS && (resetsAt === null || resetsAt > now)
  return latestLimits(limits.filter(isCurrent))
    .sort((one, other) => other.at - one.at)
    .slice(0, LIMIT_BOUNDS.limits)
    .map(({ name, windowMinutes, usedPercent, resetsAt, plan, creditsLeft }) => ({
      name,
      window_minutes: windowMinutes,
      used_percent: usedPercent,
      resets_at: resetsAt === null ? null : new Date(resetsAt).toISOString(),
      plan,
      credits_left: creditsLeft,
    }))
}

interface Given {
  name: string
  windowMinutes: unknown
  usedPercent: unknown
  resetsAt: unknown
  at: number
  plan?: string
  creditsLeft?: number | null
}

/** Undefined if it is not what agents are known to say of a limit. */
export function limitOf({
  name,
  windowMinutes,
  usedPercent,
  resetsAt,
  at,
  plan,
  creditsLeft,
}: Given): Limit | undefined {
  const isWithin = (value: unknown, limit: number): value is number =>
    typeof value === 'number' && value >= 0 && value <= limit
  if (!NAME.test(name) || !isWithin(usedPercent, LIMIT_BOUNDS.percent)) return undefined
  if (!isWithin(windowMinutes, LIMIT_BOUNDS.windowMinutes) || !Number.isInteger(windowMinutes) || windowMinutes === 0) {
    return undefined
  }
  const hasReset = resetsAt !== undefined && resetsAt !== null
  const reset = momentOf(resetsAt)
  if (hasReset && reset === undefined) return undefined
  return {
    ...{ name, windowMinutes, usedPercent, at },
    resetsAt: reset ?? null,
    plan: plan !== undefined && PLAN.test(plan) ? plan : null,
    creditsLeft: isWithin(creditsLeft, LIMIT_BOUNDS.credits) ? creditsLeft : null,
  }
}

/** Called with what is not understood of limits, in words and with its name. Usage is counted all the same. */
export type OnUnknownLimit = (what: string, kind: DamageKind) => void

function reportUnknown(name: string, onUnknown: OnUnknownLimit): void {
  onUnknown(`has a limit that Tally does not know (${name}), which is left out`, { reason: 'unknown_count', name })
}

const CODEX_WINDOWS = ['primary', 'secondary']

/** Of `rate_limits` of a `token_count` of Codex. Empty with an API key. */
export function codexLimits(recorded: unknown, at: number, onUnknown: OnUnknownLimit): Limit[] {
  const limits = objectOf(recorded)
  if (!limits) return []
  const credits = objectOf(limits.credits)
  const planType = textOf(limits.plan_type)
  const ofAll = {
    at,
    name: textOf(limits.limit_id) || textOf(limits.limit_name) || 'codex',
    ...(planType !== '' && { plan: `codex:${planType}` }),
    creditsLeft: credits?.has_credits === true && credits.unlimited !== true ? numberIn(credits.balance) : null,
  }
  const found: Limit[] = []
  for (const [name, value] of Object.entries(limits)) {
    const window = objectOf(value)
    if (!window || (!CODEX_WINDOWS.includes(name) && !('used_percent' in window))) continue
    const { used_percent: usedPercent, window_minutes: windowMinutes, resets_at: resetsAt } = window
    const limit = CODEX_WINDOWS.includes(name) && limitOf({ ...ofAll, usedPercent, windowMinutes, resetsAt })
    if (limit) found.push(limit)
    else reportUnknown(`rate_limits.${name}`, onUnknown)
  }
  return found
}

/** Codex writes a balance as a text. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

/** Claude Code names the window in the name of the limit, also of those of single models: `seven_day_opus`. */
const CLAUDE_WINDOWS: [name: RegExp, minutes: number][] = [
  [/^five_hour(?:_|$)/, 5 * 60],
  [/^seven_day(?:_|$)/, 7 * 24 * 60],
]

/** Of what Claude Code passes to the command of its status line. Empty without a subscription. */
export function claudeLimits(passed: unknown, at: number, onUnknown: OnUnknownLimit): Limit[] {
  const found: Limit[] = []
  for (const [name, value] of Object.entries(objectOf(objectOf(passed)?.rate_limits) ?? {})) {
    if (value === null) continue
    const window = objectOf(value)
    const windowMinutes = CLAUDE_WINDOWS.find(([pattern]) => pattern.test(name))?.[1]
    const limit =
      window && limitOf({ name, windowMinutes, usedPercent: window.used_percentage, resetsAt: window.resets_at, at })
    if (limit) found.push(limit)
    else reportUnknown(`rate_limits.${name}`, onUnknown)
  }
  return found
}
