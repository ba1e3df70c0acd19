/** Conversion of sheet entries between form values and API requests. */
import { momentOf } from '../../format/moments.ts'
import {
  changedTimes,
  countsOf,
  type FigureValues,
  figureValuesOf,
  NO_COUNTS,
  tokensOf,
} from '../../parts/entries/figure-values.ts'
import { labelsOf, labelsText } from '../../parts/labels-text.ts'
import type { SheetEntry } from './sheet-body.ts'

export interface EntryValues extends FigureValues {
  agent_harness: string
  agent_name: string
  project: string
  ticket: string
  summary: string
  labels: string
}

/** A new entry on the sheet's first day, at 09:00, because midnight is rarely meant. */
export const emptyEntry = (firstDay: string): EntryValues => ({
  agent_harness: '',
  agent_name: '',
  model: '',
  provider: '',
  started_at: `${firstDay} 09:00:00`,
  ended_at: `${firstDay} 10:00:00`,
  ...NO_COUNTS,
  reported_cost: '',
  requests: '',
  project: '',
  ticket: '',
  summary: '',
  labels: '',
})

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
  tokens: countsOf(values),
})

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
    tokens: tokensOf(values, entry),
    ...(entry.requests_above ? { requests_above: entry.requests_above } : {}),
  }
}
