/** An event in a few words, as a chat shows it. Pure. */

import type { Event } from '../../events/schema.ts'

export interface Summary {
  /** `Bill 2026-0001 sent` */
  title: string
  /** `total: 1200.00` */
  facts: string[]
  link: string | undefined
}

/** Longer ones are shortened: people chose them, and a chat must stay readable. */
const TEXT_LIMIT = 200

/** More than fit on a phone nobody reads in a chat. */
const FACT_LIMIT = 8

/** Fields that name the receivers of the message, not what happened. */
const HIDDEN_FIELDS: readonly string[] = ['webhooks']

/** @param known facts that are not among the changed fields, such as the amount of a bill */
export function summaryOf({ type, actor, object, before, after }: Event, known: readonly string[] = []): Summary {
  const [area = '', what = ''] = type.split('.')
  const words = [capitalized(wordsOf(area)), shortened(object?.name ?? ''), wordsOf(what)]
  const changed = [...new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])]
  const facts = changed
    .filter((field) => !HIDDEN_FIELDS.includes(field))
    .flatMap((field) => factOf(field, fieldOf(before, field), fieldOf(after, field)))
  return {
    title: words.filter((text) => text !== '').join(' '),
    facts: [
      ...known.map(shortened),
      ...facts.slice(0, FACT_LIMIT),
      ...(actor?.user ? [`by ${shortened(actor.user.name)}`] : []),
    ],
    link: object?.url ?? undefined,
  }
}

const fieldOf = (fields: Record<string, unknown> | null, name: string): unknown =>
  fields && Object.hasOwn(fields, name) ? fields[name] : undefined

function factOf(field: string, before: unknown, after: unknown): string[] {
  const [from, to] = [valueText(before), valueText(after)]
  if (from === undefined && to === undefined) return []
  return [`${wordsOf(field)}: ${from === undefined ? '' : `${from} → `}${to ?? 'none'}`]
}

function valueText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return shortened(String(value))
  // Money may be raw JSON, whose text is its digits; an object that has a name is shown by it.
  if ('name' in value && typeof value.name === 'string') return shortened(value.name)
  return shortened(JSON.stringify(value))
}

const wordsOf = (name: string) => name.replaceAll('_', ' ')

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** On one line, without what would hide or reverse the rest of it. */
function shortened(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
  return line.length > TEXT_LIMIT ? `${line.slice(0, TEXT_LIMIT - 1).toWellFormed()}…` : line
}
