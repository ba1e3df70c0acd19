/** An entry as the report that it could have been, so that a change of it is checked and valued as a report is. */
import type { Tx } from '../../database/database.ts'
import { withoutNulls } from '../../lib/defined.ts'
import { timestamp } from '../../lib/duration.ts'
import { numberText, parseExactJson } from '../../lib/exact-json.ts'
import { moneyNumber, NANO_DIGITS, parseDecimal } from '../../lib/money.ts'
import { type Interned, internLabels, internNames } from './reporting/names.ts'
import type { Identity } from './reporting/record.ts'
import type { Report } from './reporting/report.ts'
import { countsOf, detailsOf } from './rows.ts'
import type { TokenEntryDraft, TokenEntryDraftChange } from './schema.ts'
import type { EntryView } from './store.ts'
import { wireCounts, wireMedia, wireRequestsAbove } from './wire.ts'

/** The keys of a report's names and labels, which are added where they are new. */
export async function identify(tx: Tx, interned: Interned, report: Report): Promise<Identity> {
  const { harness, agent, model, provider, labels } = report
  await interned.follow(tx)
  const [harnessKey, agentKey, modelKey, providerKey] = await internNames(tx, interned, [
    harness,
    agent,
    model,
    ...(provider === undefined ? [] : [provider]),
  ])
  return {
    harnessId: harnessKey!.id,
    canonicalHarnessId: harnessKey!.canonicalId,
    agentId: agentKey!.id,
    modelId: modelKey!.id,
    chainModelId: modelKey!.canonicalId,
    providerId: providerKey?.id ?? null,
    labelSetId: labels ? await internLabels(tx, interned, labels) : null,
  }
}

/** Named or chosen by a person. A placement by rule is repeated, because fields that the rule matches may change. */
export function hasOwnPlace({ entry }: EntryView): boolean {
  return entry.placedBy === 'named' || entry.placedBy === 'manual'
}

/** Fields that are undefined stay as they are. */
type BodyChange = { [Field in keyof TokenEntryDraftChange]?: TokenEntryDraftChange[Field] | undefined }

/** The entry as a request body with the change applied: null removes a field. */
export function changedBody(view: EntryView, change: BodyChange): TokenEntryDraft {
  const body = bodyOf(view) as Record<string, unknown>
  // The sums of single requests are part of the counts that they belong to.
  if (change.tokens !== undefined || change.usage !== undefined) delete body.requests_above
  if (change.usage !== undefined) {
    delete body.requests
    delete body.tokens
  }
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete body[field]
    else if (field === 'reported_cost') body[field] = exactCost(change)
    else if (value !== undefined) body[field] = value
  }
  // Parsed from text, so that money keeps its exact digits.
  return parseExactJson(JSON.stringify(body)) as TokenEntryDraft
}

function exactCost(change: BodyChange): number {
  return moneyNumber(parseDecimal(numberText(change as { reported_cost: number }, 'reported_cost'), NANO_DIGITS)!)
}

function bodyOf(view: EntryView): Partial<TokenEntryDraft> {
  const { entry } = view
  const details = detailsOf(entry)
  const ownPlace = hasOwnPlace(view)
  const body = {
    agent_harness: view.harness,
    agent_name: view.agent,
    model: view.model,
    provider: view.provider,
    started_at: timestamp(entry.startedAt),
    ended_at: timestamp(entry.endedAt),
    tokens: { ...wireCounts(countsOf(entry)), ...(details?.media && withoutNulls(wireMedia(details))) },
    requests: entry.requests,
    requests_above: details && wireRequestsAbove(details),
    service_tier: details?.serviceTier ?? null,
    speed: details?.speed ?? null,
    region: details?.region ?? null,
    tools: details?.tools ?? null,
    reported_cost: moneyNumber(entry.reportedCost),
    summary: entry.summary,
    labels: view.labels,
    // Only slices can be said to be mixed, and no entry on a sheet has any.
    funding: view.funding?.saidFunding === 'mixed' ? null : (view.funding?.saidFunding ?? null),
    plan: view.funding?.saidPlan ?? null,
    project: (ownPlace ? view.project?.key : null) ?? entry.namedProject,
    ticket: (ownPlace ? view.ticket?.key : null) ?? entry.namedTicket,
  }
  return withoutNulls(body) as Partial<TokenEntryDraft>
}
