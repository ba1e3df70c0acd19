/** Building blocks of sentences about recorded changes. Pure: formats come from who shows them. */

/** A name or text that people or agents chose, and whose it is, if the thing may have a page. */
export interface Named {
  name: string
  id?: string
  /** Whether it is the key of a project, without an id. */
  isProject?: true
}
export type Part = string | Named
export type Fields = Readonly<Record<string, unknown>>

/** How numbers and times are written. */
export interface Formats {
  money(amount: number, currency: string): string
  count(value: number): string
  /** Of a day, `2026-11-21`. */
  day(day: string): string
  /** Of a timestamp. */
  moment(at: string): string
}

/** Puts parts together, leaving out empty ones. */
export const say = (texts: TemplateStringsArray, ...values: readonly (Part | readonly Part[])[]): Part[] =>
  texts.flatMap((text, at) => [text, ...[values[at] ?? []].flat()]).filter((part) => part !== '')

export const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : part.name)).join('')

/** A recorded text, such as a name. */
export const textIn = (value: unknown, otherwise = 'something'): Part =>
  typeof value === 'string' ? { name: value } : otherwise

/** A text that somebody wrote, on one line. */
export const quoted = (text: string): Part[] => say`“${{ name: text.replaceAll(/\s+/g, ' ').trim() }}”`

/** Longer texts are not repeated in a sentence. */
const TEXT_LIMIT = 60
/** Nobody reads more in a sentence. */
const LIST_LIMIT = 4

const ID = /^[a-z]{3}_[0-9a-f]{32}$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const MOMENT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/
const DOLLARS = /(^|_)(cost|budget)$|_value$/
const PERCENT = /^markup$|percent$/

/** Fields whose names alone would not be understood. */
const LABELS: Readonly<Record<string, string>> = {
  api_tokens: 'API tokens',
  billable: 'billing',
  client_approvers: 'approvers of the client',
  client_leads: 'leads of the client',
  email: 'e-mail address',
  enabled: 'evaluation',
  ended_at: 'end',
  further_emails: 'e-mail addresses in telemetry',
  owner_token: 'API token of the owner',
  public_url: 'public URL',
  requests_above: 'requests above thresholds',
  same_session: 'handling of a session that two people report',
  sheet_required_fields: 'required fields of token sheets',
  started_at: 'start',
  tax_id: 'tax ID',
  telemetry_by_email: 'assignment of telemetry by e-mail address',
  unknown_projects: 'handling of unknown projects',
  url: 'address',
  versions: 'terms',
}

/** What other fields say as well. */
const HIDDEN = new Set(['assumed_projects', 'id', 'measure', 'placed_by', 'price', 'project_decided'])

const labelOf = (field: string): string => (Object.hasOwn(LABELS, field) ? LABELS[field]! : field.replaceAll('_', ' '))

/** Money in responses is raw JSON. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'object' && value !== null && 'rawJSON' in value ? Number(value.rawJSON) : undefined
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The name of a project, ticket or person that a value refers to; a key is shorter. */
export function namedIn(value: unknown): Named | undefined {
  if (!isFields(value)) return undefined
  const name = typeof value.key === 'string' ? value.key : value.name
  if (typeof name !== 'string') return undefined
  return { name, ...(typeof value.id === 'string' && { id: value.id }) }
}

/** A recorded value in a few words; undefined if that would take more. */
export function shortValue(field: string, value: unknown, formats: Formats): Part[] | undefined {
  if (value === null || value === undefined || value === '') return ['none']
  if (typeof value === 'boolean') return [value ? 'on' : 'off']
  const amount = numberOf(value)
  if (amount !== undefined) {
    if (DOLLARS.test(field)) return [formats.money(amount, 'USD')]
    return [`${formats.count(amount)}${PERCENT.test(field) ? '%' : ''}`]
  }
  if (typeof value === 'string') {
    if (MOMENT.test(value)) return [formats.moment(value)]
    if (DAY.test(value)) return [formats.day(value)]
    return ID.test(value) || value.length > TEXT_LIMIT || /[\n{[]/.test(value) ? undefined : [{ name: value }]
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return ['none']
    const items = value.length > LIST_LIMIT ? [] : value.map((item) => shortValue(field, item, formats))
    if (items.length === 0 || items.includes(undefined)) return undefined
    return items.flatMap((item, at) => (at === 0 ? item! : [', ', ...item!]))
  }
  const named = namedIn(value)
  if (named) return [named]
  if (!isFields(value)) return undefined
  if (typeof value.total === 'number') return [formats.count(value.total)]
  return typeof value.percent === 'number' ? [`${formats.count(value.percent)}%`] : undefined
}

/**
 * What somebody did to something: “changed the markup of project ACME from none to 2%”, “turned reminders off for client
 * Acme”, or “changed project ACME: markup from none to 2%, name from …”. `of` nothing are the settings.
 */
export function differencesOf(
  { before, after, formats }: { before: Fields; after: Fields; formats: Formats },
  of: readonly Part[],
  verb = 'changed',
): Part[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((field) => !HIDDEN.has(field))
  const parts = fields.map((field) => {
    const from = shortValue(field, before[field], formats)
    const to = shortValue(field, after[field], formats)
    const isSame = from === undefined || to === undefined || textOf(from) === textOf(to)
    return { field, label: labelOf(field), change: isSame ? [] : say` from ${from} to ${to}` }
  })
  const [only] = parts
  const all = of.length === 0 ? 'the settings' : of
  if (!only) return say`${verb} ${all}`
  if (parts.length > 1) {
    const listed = parts.flatMap(({ label, change }, at) => say`${at === 0 ? '' : ', '}${label}${change}`)
    return say`${verb} ${all}: ${listed}`
  }
  const value = after[only.field]
  if (typeof value === 'boolean') {
    return say`turned ${only.label} ${value ? 'on' : 'off'}${of.length === 0 ? '' : say` for ${of}`}`
  }
  return say`${verb} the ${only.label}${of.length === 0 ? '' : say` of ${of}`}${only.change}`
}

export function countedOf(count: unknown, [one, many]: readonly [string, string], formats: Formats): string {
  const value = numberOf(count) ?? 0
  return `${formats.count(value)} ${value === 1 ? one : many}`
}

/** A reason that was given. */
export const reasonOf = ({ reason }: Fields): Part[] =>
  typeof reason === 'string' && reason !== '' ? say`: ${quoted(reason)}` : []
