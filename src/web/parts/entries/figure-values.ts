/** The figures of an entry between form values and API requests. */
import { momentOf, timeAt } from '../../format/moments.ts'
import type { Entry } from './entry.ts'

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

export interface FigureValues extends Record<Count, Field> {
  model: string
  provider: string
  /** Local time in the organization's zone: `2026-11-21 17:53:00`. */
  started_at: string | null
  ended_at: string | null
  reported_cost: Field
  requests: Field
}

export const NO_COUNTS: Record<Count, Field> = {
  input: '',
  output: '',
  cache_read: '',
  cache_write: '',
  cache_write_1h: '',
}

export type EntryFigures = Pick<
  Entry,
  'model' | 'provider' | 'started_at' | 'ended_at' | 'tokens' | 'reported_cost' | 'requests' | 'requests_above'
>

export function figureValuesOf(entry: EntryFigures, timeZone: string): FigureValues {
  const { tokens } = entry
  return {
    model: entry.model,
    provider: entry.provider ?? '',
    started_at: timeAt(entry.started_at, timeZone),
    ended_at: timeAt(entry.ended_at, timeZone),
    ...(Object.fromEntries(
      COUNTS.map(({ kind, isRequired }) => [kind, tokens[kind] === 0 && !isRequired ? '' : tokens[kind]]),
    ) as Record<Count, Field>),
    reported_cost: entry.reported_cost ?? '',
    requests: entry.requests ?? '',
  }
}

export const countsOf = (values: FigureValues) => ({
  input: Number(values.input),
  output: Number(values.output),
  ...Object.fromEntries(
    COUNTS.flatMap(({ kind, isRequired }) => (isRequired || values[kind] === '' ? [] : [[kind, Number(values[kind])]])),
  ),
})

/** The counts with what the form cannot show: audio and images. */
export function tokensOf(values: FigureValues, { tokens }: Pick<EntryFigures, 'tokens'>) {
  const { input_audio, input_image, output_audio, output_image } = tokens
  const media = Object.entries({ input_audio, input_image, output_audio, output_image })
  return { ...countsOf(values), ...Object.fromEntries(media.filter(([, count]) => count !== null)) }
}

/** The times that were changed: others keep their milliseconds. */
export function changedTimes(values: FigureValues, before: FigureValues, timeZone: string) {
  return {
    ...(values.started_at !== before.started_at && { started_at: momentOf(values.started_at!, timeZone) }),
    ...(values.ended_at !== before.ended_at && { ended_at: momentOf(values.ended_at!, timeZone) }),
  }
}

/** Only what differs from the entry, so that the history of a correction shows nothing else. */
export function figureChangesOf(values: FigureValues, entry: EntryFigures, timeZone: string) {
  const before = figureValuesOf(entry, timeZone)
  const isChanged = (field: keyof FigureValues) => values[field] !== before[field]
  return {
    ...changedTimes(values, before, timeZone),
    ...(isChanged('model') && { model: values.model.trim() }),
    ...(isChanged('provider') && { provider: values.provider.trim() || null }),
    ...(COUNTS.some(({ kind }) => isChanged(kind)) && { tokens: tokensOf(values, entry) }),
    ...(isChanged('reported_cost') && {
      reported_cost: values.reported_cost === '' ? null : Number(values.reported_cost),
    }),
    ...(isChanged('requests') && { requests: values.requests === '' ? null : Number(values.requests) }),
  }
}

/** Form fields of JSON pointers that have another name. */
export const ISSUE_FIELDS: Record<string, string> = Object.fromEntries(
  COUNTS.map(({ kind }) => [`/tokens/${kind}`, kind]),
)
