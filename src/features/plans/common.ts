/**
 * Plans that many have, with the source and the day of each price. Nothing is added or changed by itself: a person takes a
 * plan from the table once, and changes it as they like.
 */
import plans from './common-plans.json' with { type: 'json' }
import type { CommonPlan } from './schema.ts'

/** What the table says of a plan. All of them are monthly, in dollars, and charge what is beyond an allowance in dollars. */
interface Listed {
  code: string
  vendor: string
  product: string
  fee: string
  agent_harness: string
  vendor_codes?: string[]
  allowance_usd?: string
  source_url: string
  source_day: string
  note?: string
}

export const COMMON_PLANS: readonly CommonPlan[] = (plans as Listed[]).map(
  ({ code, vendor, product, fee, agent_harness, vendor_codes = [], allowance_usd, source_url, source_day, note }) => ({
    code,
    vendor,
    product,
    period: 'month',
    fee: Number(fee),
    currency: 'USD',
    exchange_rate: null,
    seats: 1,
    covers: [{ field: 'agent_harness', matches: agent_harness }],
    allowance: allowance_usd === undefined ? null : Number(allowance_usd),
    allowance_unit: allowance_usd === undefined ? null : 'usd',
    overage_price: allowance_usd === undefined ? null : 1,
    pooled: false,
    weight: 'list_value',
    source_url,
    source_day,
    vendor_codes,
    note: note ?? null,
  }),
)
