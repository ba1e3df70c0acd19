/** Serializes a view of an entry. */

import type { EntryAmendment } from '../../database/schema/records.ts'
import { dayText } from '../../lib/calendar.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { divideHalfEven, moneyNumber } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { Counts, UsageDetails } from '../../shared/usage.ts'
import { totalTokens } from '../../shared/usage.ts'
import { isCostMismatch } from '../selection/contract.ts'
import { amountOfEntry, detailsOf, type EntryShare, feeOfEntry } from './rows.ts'
import type { ListedTokenEntry, TokenEntry } from './schema.ts'
import type { EntryView } from './store.ts'

export function toTokenEntry(view: EntryView): TokenEntry {
  const { entry, manager, project, ticket, bill } = view
  const details = detailsOf(entry)
  const reportedCost = moneyNumber(entry.reportedCost)
  const listValue = moneyNumber(entry.listValue)
  return {
    id: entry.uid,
    status: entry.status,
    source: entry.source,
    agent_manager: { id: manager.uid, name: manager.name },
    // On a sheet, a person created the entry.
    manager_by: entry.sheetId === null ? entry.managerBy : null,
    agent_harness: view.harness,
    agent_name: view.agent,
    model: view.model,
    provider: view.provider,
    started_at: timestamp(entry.startedAt),
    ended_at: timestamp(entry.endedAt),
    tokens: wireTokens(entry, details),
    requests: entry.requests,
    active_seconds: entry.activeMs === null ? null : entry.activeMs / 1_000,
    requests_above: details && wireRequestsAbove(details),
    service_tier: details?.serviceTier ?? null,
    speed: details?.speed ?? null,
    region: details?.region ?? null,
    tools: details?.tools ?? null,
    cost: reportedCost ?? listValue,
    reported_cost: reportedCost,
    list_value: listValue,
    cost_mismatch: isCostMismatch(entry),
    price: view.price && { id: view.price, step: entry.priceStep!, note: entry.priceNote },
    project: project && { id: project.uid, key: project.key, name: project.name },
    ticket: ticket && { id: ticket.uid, key: ticket.key },
    placement: {
      by: entry.placedBy ?? 'unattributed',
      rule: view.rule && { id: view.rule, name: view.ruleVersion!.name, version: view.ruleVersion!.version },
      note: entry.placementNote,
      named_project: entry.namedProject,
      named_ticket: entry.namedTicket,
    },
    summary: entry.summary,
    labels: view.labels ?? {},
    session_id: view.sessionKey,
    part: entry.part,
    slice: entry.sliceDay === null ? null : { day: dayText(entry.sliceDay), estimated: entry.estimated },
    continues: view.continues,
    corrected: entry.corrected ?? [],
    division: wireDivision(entry.amendment),
    superseded: entry.superseded,
    possible_duplicate_of: view.duplicateOf,
    bill: bill && { id: bill.uid, number: bill.number },
    sheet: view.sheet && { id: view.sheet },
    funding: wireFunding(view),
    created_at: timestamp(entry.createdAt),
    updated_at: timestampOrNull(entry.updatedAt),
  }
}

/** What a reader of entries is shown of what was paid for them. */
export interface ShownCosts {
  basis: CostBasis
  seesFees: boolean
}

/** With what was paid for it. */
export function toListedEntry(
  view: EntryView,
  share: EntryShare | undefined,
  { basis, seesFees }: ShownCosts,
): ListedTokenEntry {
  const amountBy = (basis: CostBasis) => moneyNumber(amountOfEntry(view, share, basis))
  return {
    ...toTokenEntry(view),
    cost: amountBy(basis),
    marginal_cost: amountBy('marginal'),
    allocated_cost: seesFees ? amountBy('allocated') : null,
    fee_share: seesFees ? moneyNumber(feeOfEntry(view, share)) : null,
    provisional: view.fundingPlan !== null && !share?.isClosed,
  }
}

export function wireFunding(
  view: Pick<EntryView, 'funding' | 'fundingPlan' | 'fundingRule' | 'fundingRuleVersion'>,
): TokenEntry['funding'] {
  const { funding, fundingPlan: plan, fundingRule: rule, fundingRuleVersion: version } = view
  if (funding === null) return NO_FUNDING
  return {
    kind: funding.funding,
    plan: plan && { id: plan.uid, name: plan.name },
    reason: funding.reason,
    rule: rule && { id: rule, name: version!.name, version: version!.version },
    note: funding.note,
    reported_funding: funding.saidFunding,
    reported_plan: funding.saidPlan,
    metered_share: funding.meteredShare === null ? null : funding.meteredShare / SHARE_UNITS,
  }
}

/** Of the metered share of tokens, in one. */
const SHARE_UNITS = 1_000_000_000

/** Of an entry of which nothing says how it is paid for. */
export const NO_FUNDING: TokenEntry['funding'] = {
  kind: 'unknown',
  plan: null,
  reason: 'none',
  rule: null,
  note: null,
  reported_funding: null,
  reported_plan: null,
  metered_share: null,
}

export function wireDivision(amendment: EntryAmendment | null): TokenEntry['division'] {
  if (!amendment?.division) return null
  const { of, weight, total } = amendment.division
  const millionths = divideHalfEven(BigInt(weight) * 1_000_000n, BigInt(total))
  return { entry: of, share: Number(millionths) / 1_000_000 }
}

export function wireTokens(entry: Counts, details: UsageDetails | null): TokenEntry['tokens'] {
  const long = details?.requestsAbove?.find(({ threshold }) => threshold === 200_000)
  const media = details && wireMedia(details)
  return {
    input: entry.input,
    output: entry.output,
    cache_read: entry.cacheRead,
    cache_write: entry.cacheWrite,
    cache_write_1h: entry.cacheWrite1h,
    total: totalTokens(entry),
    over_200k: long ? wireCounts(long.counts) : null,
    input_audio: media?.input_audio ?? null,
    input_image: media?.input_image ?? null,
    output_audio: media?.output_audio ?? null,
    output_image: media?.output_image ?? null,
  }
}

export function wireMedia({ media }: UsageDetails) {
  return {
    input_audio: media?.inputAudio ?? null,
    input_image: media?.inputImage ?? null,
    output_audio: media?.outputAudio ?? null,
    output_image: media?.outputImage ?? null,
  }
}

export function wireRequestsAbove({ requestsAbove }: UsageDetails) {
  return requestsAbove === null
    ? null
    : requestsAbove.map(({ threshold, counts }) => ({ threshold, ...wireCounts(counts) }))
}

export function wireCounts({ input, output, cacheRead, cacheWrite, cacheWrite1h }: Counts) {
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite, cache_write_1h: cacheWrite1h }
}
