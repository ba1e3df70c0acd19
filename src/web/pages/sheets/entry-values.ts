/** Conversion of sheet entries between form values and API requests. */
import { momentOf, timeAt } from '../../format/moments.ts'
import { labelsOf, labelsText } from '../../parts/labels-text.ts'
import type { SheetEntry } from './sheet-body.ts'

export const COUNTS = [
  { kind: 'input', title: 'Input', isRequired: true },
  { kind: 'output', title: 'Output', isRequired: true },
  { kind: 'cache_read', title: 'Cache read', isRequired: false },
  { kind: 'cache_write', title: 'Cache write', isRequired: false },
  { kind: 'cache_write_1h', title: 'Cache write, 1 h', isRequired: false },
] as const

type Count = (typeof COUNTS)[number]['kind']

/** An empty string if there is no value. */
type Field = number | string

export interface EntryValues extends Record<Count, Field> {
  agent_harness: string
  agent_name: string
  model: string
  provider: string
  /** Local time in the organization's zone: `2026-11-21 17:53:00`. */
  started_at: string | null
  ended_at: string | null
  reported_cost: Field
  requests: Field
  project: string
  ticket: string
  summary: string
  labels: string
}

const NO_COUNTS: Record<Count, Field> = { input: '', output: '', cache_read: '', cache_write: '', cache_write_1h: '' }

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
  const { tokens, placement } = entry
  return {
    agent_harness: entry.agent_harness,
    agent_name: entry.agent_name,
    model: entry.model,
    provider: entry.provider ?? '',
    started_at: timeAt(entry.started_at, timeZone),
    ended_at: timeAt(entry.ended_at, timeZone),
    ...(Object.fromEntries(
      COUNTS.map(({ kind, isRequired }) => [kind, tokens[kind] === 0 && !isRequired ? '' : tokens[kind]]),
    ) as Record<Count, Field>),
    reported_cost: entry.reported_cost ?? '',
    requests: entry.requests ?? '',
    // Leave out a place that a rule assigned, so that rules keep applying.
    project: placement.by === 'rule' ? '' : (entry.project?.key ?? ''),
    ticket: placement.by === 'rule' ? '' : (entry.ticket?.key ?? ''),
    summary: entry.summary ?? '',
    labels: labelsText(entry.labels),
  }
}

const countsOf = (values: EntryValues) => ({
  input: Number(values.input),
  output: Number(values.output),
  ...Object.fromEntries(
    COUNTS.flatMap(({ kind, isRequired }) => (isRequired || values[kind] === '' ? [] : [[kind, Number(values[kind])]])),
  ),
})

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
  const { input_audio, input_image, output_audio, output_image } = entry.tokens
  const media = Object.entries({ input_audio, input_image, output_audio, output_image })
  return {
    ...required(values),
    ...others,
    ...(values.project === before.project ? {} : { project }),
    ...(values.ticket === before.ticket ? {} : { ticket }),
    ...(values.started_at === before.started_at ? {} : { started_at: momentOf(values.started_at!, timeZone) }),
    ...(values.ended_at === before.ended_at ? {} : { ended_at: momentOf(values.ended_at!, timeZone) }),
    tokens: { ...countsOf(values), ...Object.fromEntries(media.filter(([, tokens]) => tokens !== null)) },
    ...(entry.requests_above ? { requests_above: entry.requests_above } : {}),
  }
}

/** Form fields of JSON pointers that have another name. */
export const ISSUE_FIELDS: Record<string, string> = Object.fromEntries(
  COUNTS.map(({ kind }) => [`/tokens/${kind}`, kind]),
)
