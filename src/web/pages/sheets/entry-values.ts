/** Conversion of sheet entries between form values and API requests. */
import { momentOf, timeAt } from '../../format/moments.ts'
import { hasUnreadable } from '../../format/read-numbers.ts'
import {
  changedTimes,
  countsOf,
  type FigureValues,
  figureValuesOf,
  NO_COUNTS,
  tokensOf,
} from '../../parts/entries/figure-values.ts'
import { labelsOf, labelsText } from '../../parts/labels-text.ts'
import type { Sheet, SheetEntry } from './sheet-body.ts'

export interface EntryValues extends FigureValues {
  agent_harness: string
  agent_name: string
  project: string
  ticket: string
  summary: string
  labels: string
  /** Whether only the cost is known: the counts are sent as 0. */
  cost_only: boolean
}

/** The counts; those that can't be read are empty. */
export const readableCounts = (values: EntryValues): typeof NO_COUNTS => ({
  ...NO_COUNTS,
  ...Object.fromEntries(
    Object.keys(NO_COUNTS)
      .map((kind) => [kind, values[kind as keyof typeof NO_COUNTS]] as const)
      .filter(([, count]) => !hasUnreadable(count)),
  ),
})

/** What a person used last, as a default for the next entry. */
export type EntryDefaults = Pick<EntryValues, 'agent_harness' | 'agent_name' | 'model' | 'project'>

const NO_DEFAULTS: EntryDefaults = { agent_harness: '', agent_name: '', model: '', project: '' }

export const defaultsOf = ({ agent_harness, agent_name, model, project, placement }: SheetEntry): EntryDefaults => ({
  agent_harness,
  agent_name,
  model,
  project: placement.by === 'rule' ? '' : (project?.key ?? ''),
})

/** Now, to the minute; on the nearest day of the period if today is not one of its days. */
export function timeOfNew({ from, to }: Sheet['period'], timeZone: string, now = new Date()): string {
  const time = timeAt(now.toISOString(), timeZone)
  const today = time.slice(0, 10)
  const day = today < from ? from : today > to ? to : today
  return `${day} ${time.slice(11, 16)}:00`
}

/** A new entry at a local time, such as {@link timeOfNew}. */
export const emptyEntry = (time: string, defaults: EntryDefaults = NO_DEFAULTS): EntryValues => ({
  ...defaults,
  provider: '',
  started_at: time,
  ended_at: time,
  ...NO_COUNTS,
  reported_cost: '',
  requests: '',
  ticket: '',
  summary: '',
  labels: '',
  cost_only: false,
})

/** A new entry for the same work as another one, without its numbers, at a local time. */
export const duplicateOf = (entry: SheetEntry, timeZone: string, time: string): EntryValues => ({
  ...valuesOf(entry, timeZone),
  ...NO_COUNTS,
  reported_cost: '',
  requests: '',
  started_at: time,
  ended_at: time,
})

/** A cost without token counts, such as that of a subscription's extra usage. */
export const isCostOnly = ({ tokens, reported_cost }: Pick<SheetEntry, 'tokens' | 'reported_cost'>): boolean =>
  tokens.total === 0 && reported_cost !== null

/** The next entry after one was added: likely by the same agent and for the same work. */
export const nextEntry = (values: EntryValues): EntryValues => ({
  ...values,
  ...NO_COUNTS,
  reported_cost: '',
  requests: '',
  summary: '',
})

export function valuesOf(entry: SheetEntry, timeZone: string): EntryValues {
  const { placement } = entry
  return {
    agent_harness: entry.agent_harness,
    agent_name: entry.agent_name,
    ...figureValuesOf(entry, timeZone),
    // Leave out a place that a rule assigned, so that rules keep applying.
    project: placement.by === 'rule' ? '' : (entry.project?.key ?? ''),
    ticket: placement.by === 'rule' ? '' : (entry.ticket?.key ?? ''),
    summary: entry.summary ?? '',
    labels: labelsText(entry.labels),
    cost_only: isCostOnly(entry),
  }
}

/** The optional fields of a report; null if empty. */
const optional = ({ provider, reported_cost, requests, project, ticket, summary, labels }: EntryValues) => ({
  provider: provider.trim() || null,
  reported_cost: reported_cost === '' ? null : Number(reported_cost),
  requests: requests === '' ? null : Number(requests),
  project: project.trim() || null,
  ticket: ticket.trim() || null,
  summary: summary.trim() || null,
  labels: labels.trim() === '' ? null : labelsOf(labels),
})

const required = ({ agent_harness, agent_name, model }: EntryValues) => ({
  agent_harness: agent_harness.trim(),
  agent_name: agent_name.trim(),
  model: model.trim(),
})

type Said = { [Name in keyof ReturnType<typeof optional>]?: NonNullable<ReturnType<typeof optional>[Name]> }

export const draftOf = (values: EntryValues, timeZone: string) => ({
  ...required(values),
  ...(Object.fromEntries(Object.entries(optional(values)).filter(([, value]) => value !== null)) as Said),
  started_at: momentOf(values.started_at!, timeZone),
  ended_at: momentOf(values.ended_at!, timeZone),
  tokens: values.cost_only ? NO_TOKENS : countsOf(values),
})

/** The API requires both counts. */
const NO_TOKENS = { input: 0, output: 0 }

/** The changes to an entry. Keeps what the form cannot show, such as milliseconds or the share of long requests. */
export function changeOf(values: EntryValues, entry: SheetEntry, timeZone: string) {
  const before = valuesOf(entry, timeZone)
  const { project, ticket, ...others } = optional(values)
  return {
    ...required(values),
    ...others,
    ...(values.project === before.project ? {} : { project }),
    ...(values.ticket === before.ticket ? {} : { ticket }),
    ...changedTimes(values, before, timeZone),
    tokens: values.cost_only ? NO_TOKENS : tokensOf(values, entry),
    ...(entry.requests_above ? { requests_above: entry.requests_above } : {}),
  }
}
