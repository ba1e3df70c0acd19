/** Explains step by step how a price was found (docs/design/pricing.md, "Finding the row for a model name"). Pure. */
import { momentText } from '../../lib/duration.ts'
import { normalizeModelName } from '../../shared/model-name.ts'
import type { DefaultSource } from './default-table.ts'
import type { Hit, Lookup, Price } from './price-table.ts'
import type { CountsValue } from './rates.ts'
import type { PriceView } from './store.ts'

/** `found`, `not_listed`, listed but `not_yet` or no longer (`ended`) in effect, or the step `does_not_apply` to the name. */
export type StepOutcome = (typeof STEP_OUTCOMES)[number]
export const STEP_OUTCOMES = ['found', 'not_listed', 'not_yet', 'ended', 'does_not_apply'] as const

export interface ExplainedStep {
  /** 1 to 7 as in the steps of the resolution; 8 is unpriced. */
  step: number
  outcome: StepOutcome
  detail: string
}

/** The row that values a model at a moment, and how it was found. */
export interface Resolution {
  model: string
  provider: string | null
  at: number
  /** The step that found the price; 8 is unpriced. */
  step: number
  price: PriceView | null
  /** The published tables of a price of the embedded table. */
  sources: DefaultSource[]
  steps: ExplainedStep[]
  /** The value of the given counts; null if none were given, or if the row has no price for them. */
  value: CountsValue | null
}

const LAST_STEP = 7

/** Explains why a step had no name to look up. */
const NO_LOOKUP: Record<number, string> = {
  2: 'no alias has this name',
  3: 'neither the entry nor the name contains a provider',
  6: 'the name does not end with a date, version or effort',
  7: 'the name does not begin with a vendor or seller',
}

interface Search {
  model: string
  at: number
  /** That days are shown in. */
  timeZone: string
  hit: Hit | undefined
  lookups: Lookup[]
}

export function explainSteps({ lookups, ...search }: Search): ExplainedStep[] {
  const { at, timeZone, hit } = search
  const steps: ExplainedStep[] = []
  for (let step = 1; step <= (hit?.step ?? LAST_STEP); step += 1) {
    steps.push({
      step,
      ...explainStep(step, { ...search, lookups: lookups.filter((lookup) => lookup.step === step) }),
    })
  }
  if (!hit) steps.push({ step: 8, outcome: 'not_listed', detail: `unpriced on ${momentText(at, timeZone)}` })
  return steps
}

function explainStep(step: number, { model, at, timeZone, hit, lookups }: Search): Omit<ExplainedStep, 'step'> {
  if (hit?.step === step) return { outcome: 'found', detail: describePrice(hit.price, timeZone) }
  const listed = lookups.find(({ prices }) => prices.length > 0)
  if (listed) {
    const price = listed.prices[0]!
    const outcome = (price.effectiveFrom ?? at) > at ? 'not_yet' : 'ended'
    return { outcome, detail: `'${price.model}' at ${providerText(price)} ${periodText(price, timeZone)}` }
  }
  if (lookups.length === 0) return { outcome: 'does_not_apply', detail: NO_LOOKUP[step] ?? 'nothing to look for' }
  if (step === 1) return { outcome: 'not_listed', detail: 'no price set by hand has this name' }
  if (step === 5 && normalizeModelName(model) === model) {
    return { outcome: 'does_not_apply', detail: 'the name is already in normalized form' }
  }
  const misses = new Set(lookups.map(missText))
  return { outcome: 'not_listed', detail: [...misses].join('; ') }
}

function missText({ name, providers }: Lookup): string {
  return providers.length > 0
    ? `'${name}' is not listed by ${providers.join(', ')}`
    : `the vendor of '${name}' is unknown`
}

function describePrice(price: Price, timeZone: string): string {
  return `'${price.model}' at ${providerText(price)}, ${periodText(price, timeZone)}, source ${price.source}`
}

function providerText({ provider }: Price): string {
  return provider === '' ? 'any provider' : provider
}

function periodText({ effectiveFrom, effectiveUntil }: Price, timeZone: string): string {
  const end = effectiveUntil === null ? '' : ` until ${momentText(effectiveUntil, timeZone)}`
  if (effectiveFrom === null) return end === '' ? 'always in effect' : `in effect${end}`
  return `in effect from ${momentText(effectiveFrom, timeZone)}${end}`
}
