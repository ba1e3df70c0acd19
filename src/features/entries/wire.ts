/** Serializes a view of an entry. */

import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { moneyNumber } from '../../lib/money.ts'
import { over200kOf } from './rows.ts'
import type { TokenEntry } from './schema.ts'
import type { EntryView } from './store.ts'
import { type Counts, totalTokens } from './totals.ts'

export function toTokenEntry(view: EntryView): TokenEntry {
  const { entry, manager, project, ticket, bill } = view
  const over200k = over200kOf(entry)
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
    tokens: { ...wireCounts(entry), total: totalTokens(entry), over_200k: over200k && wireCounts(over200k) },
    requests: entry.requests,
    cost: reportedCost ?? listValue,
    reported_cost: reportedCost,
    list_value: listValue,
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
    continues: view.continues,
    superseded: entry.superseded,
    possible_duplicate_of: view.duplicateOf,
    bill: bill && { id: bill.uid, number: bill.number },
    sheet: view.sheet && { id: view.sheet },
    created_at: timestamp(entry.createdAt),
    updated_at: timestampOrNull(entry.updatedAt),
  }
}

export function wireCounts({ input, output, cacheRead, cacheWrite, cacheWrite1h }: Counts) {
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite, cache_write_1h: cacheWrite1h }
}
