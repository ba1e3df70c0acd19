/** The steps of an entry's history as text. */
import { count } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import { exactMoney } from '../../format/money.ts'
import type { HistoryStep } from '../../parts/entries/entry.ts'

const ACTIONS: Record<string, string> = {
  created: 'Reported',
  placed: 'Assigned',
  corrected: 'Corrected',
  repriced: 'Repriced',
  approved: 'Approved',
  held: 'Held as a possible duplicate',
  released: 'Released',
  discarded: 'Discarded as a duplicate',
  rejected: 'Rejected',
  voided: 'Voided',
  restored: 'Restored',
  reopened: 'Reopened',
  approval_withdrawn: 'Approval withdrawn',
  superseded: 'Superseded by other usage of its session',
  source_changed: 'Supplied by another source',
  shrunk: 'Reported with lower totals',
  sliced: 'Split by day',
  adopted: 'Adopted from telemetry',
  assigned: 'Agent manager set',
  divided: 'Divided',
  division_undone: 'Division undone',
}

export const actionOf = ({ action }: Pick<HistoryStep, 'action'>): string => ACTIONS[action] ?? sentenceOf(action)

const sentenceOf = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1).replaceAll('_', ' ')

/** The actor: a person, a person’s token, or Tally itself. */
export function actorOf({ actor, details }: Pick<HistoryStep, 'actor' | 'details'>): string {
  if (!actor) return 'Tally'
  const { name } = actor.user
  if (isPerson(details.for)) return `${name} for ${details.for.name}`
  return actor.token ? `${name} via token ${actor.token.name}` : name
}

const isPerson = (value: unknown): value is { name: string } =>
  typeof value === 'object' && value !== null && 'name' in value

/** Why the assignment changed. A manual change needs no explanation. */
const BECAUSE: Record<string, string> = {
  bill_credited: 'because its bill was credited',
  bill_voided: 'because its bill was voided',
  bill_not_sent: 'because its bill was not sent',
  corrected: 'because its summary or labels were edited',
  named_in_report: 'because a report named it',
  project_merged: 'because the project was merged',
  rule: 'by a rule',
  same_session: 'because another person has reported the same session',
  rules_applied: 'because the rules were applied to existing entries',
  ticket_found_project: 'because its ticket was assigned to a project',
  ticket_moved: 'because its ticket moved to another project',
  session_owner: 'because its session has had another owner since it was locked',
  telemetry_email: 'because of the e-mail address in its telemetry',
  reported_with_a_service_token: 'because the session was reported with a service token',
}

/** The details of a change in lines: known ones as text, any others as they are stored. */
export function detailsOf({ details }: Pick<HistoryStep, 'details'>): string[] {
  const { because, from, to, source, for: _, ...rest } = details
  const lines: string[] = []
  if (isPlace(to)) lines.push(`${placeWords(from)} → ${placeWords(to)}`)
  else if (typeof from === 'string' && typeof to === 'string') lines.push(`${from} → ${to}`)
  for (const [name, value] of Object.entries(rest)) lines.push(`${sentenceOf(name)}: ${valueWords(name, value)}`)
  if (typeof because === 'string' && because !== 'by_hand') lines.push(BECAUSE[because] ?? because)
  if (typeof source === 'string' && source !== 'report') lines.push(`from ${source}`)
  return lines
}

interface PlaceThen {
  project: { key: string } | null
  ticket: { key: string } | null
}

const isPlace = (value: unknown): value is PlaceThen =>
  typeof value === 'object' && value !== null && 'project' in value && 'ticket' in value

const placeWords = (place: unknown): string =>
  isPlace(place) ? (place.ticket?.key ?? place.project?.key ?? 'unattributed') : 'unattributed'

/** A change from one value to another, or the value itself. */
function valueWords(name: string, value: unknown): string {
  if (typeof value === 'object' && value !== null && 'from' in value && 'to' in value) {
    return `${valueWords(name, value.from)} → ${valueWords(name, value.to)}`
  }
  if (value === null || value === undefined) return 'none'
  if (name === 'day' && typeof value === 'string') return dayInWords(value)
  if (typeof value === 'number') return /cost|value/.test(name) ? exactMoney(value) : count(value)
  if (typeof value === 'object') {
    const pairs = Object.entries(value).map(([key, each]) => `${key}: ${valueWords(key, each)}`)
    return pairs.length === 0 ? 'none' : pairs.join(', ')
  }
  return String(value)
}
