/** Records of the audit log as text. */
import type { api, Body } from '../../server/api.ts'

export type Change = Body<Awaited<ReturnType<typeof api.audit.get>>>['data'][number]

/** `placement_rule.added` reads "placement rule added". */
export const actionInWords = (action: string): string => action.replace('.', ' ').replaceAll('_', ' ')

export interface Difference {
  field: string
  before: string | null
  after: string | null
}

/** What changed, field by field, in the order in which it was recorded; without the id, which is that of the object. */
export function differencesOf({ before, after }: Change): Difference[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  fields.delete('id')
  return [...fields].map((field) => ({
    field: field.replaceAll('_', ' '),
    before: before && Object.hasOwn(before, field) ? textOf(before[field]) : null,
    after: after && Object.hasOwn(after, field) ? textOf(after[field]) : null,
  }))
}

function textOf(value: unknown): string {
  if (value === null || value === '') return 'none'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ') || 'none'
  return JSON.stringify(value, null, 1)
}

/** In a line: `role: member → billing`. */
export function differenceInWords({ field, before, after }: Difference): string {
  if (before === null) return `${field}: ${after}`
  return after === null ? `${field}: was ${before}` : `${field}: ${before} → ${after}`
}

/** The actor: a person, a person’s token, the command line, or Tally itself. */
export function actorOf({ user, token, origin, for: represented }: Change): string {
  if (!user) return origin === 'tally' ? 'Tally' : origin
  if (represented) return `${user.name} for ${represented.name}`
  return token ? `${user.name} via token ${token.name}` : user.name
}
