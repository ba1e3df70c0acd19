/** An event in a few words, as a chat shows it. Pure. */

import { dollarsText, measuredText } from '../../../lib/display-numbers.ts'
import type { Event } from '../../events/schema.ts'
import { eventNumber } from './event-number.ts'
import { shortened } from './short-text.ts'

export interface Summary {
  /** `Bill 2026-0001 sent` */
  title: string
  /** `total: 1200.00` */
  facts: string[]
  link: string | undefined
}

/** More than fit on a phone nobody reads in a chat. */
const FACT_LIMIT = 8

/** Fields that name the receivers of the message, not what happened, and what is shown as a fact or a link. */
const HIDDEN_FIELDS: readonly string[] = ['webhooks', 'thresholds', 'scope', 'list']

/**
 * @param known facts that are not among the changed fields, such as the amount of a bill
 * @param page where to look, if that is not the page of the object
 */
export function summaryOf(event: Event, known: readonly string[] = [], page?: string): Summary {
  const { title, facts } = textsOf(event)
  const { actor, object } = event
  return {
    title,
    facts: [...known.map(shortened), ...facts, ...(actor?.user ? [`by ${shortened(actor.user.name)}`] : [])],
    link: page ?? object?.url ?? undefined,
  }
}

function textsOf(event: Event): Pick<Summary, 'title' | 'facts'> {
  switch (event.type) {
    case 'usage.anomaly_found':
      return anomalyTexts(event)
    case 'budget.threshold_crossed':
    case 'budget.forecast_exceeded':
      return alertTexts(event)
    default:
      return changeTexts(event)
  }
}

function changeTexts({ type, object, before, after }: Event): Pick<Summary, 'title' | 'facts'> {
  const [area = '', what = ''] = type.split('.')
  const words = [capitalized(wordsOf(area)), shortened(object?.name ?? ''), wordsOf(what)]
  const changed = [...new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])]
  const facts = changed
    .filter((field) => !HIDDEN_FIELDS.includes(field))
    .flatMap((field) => factOf(field, fieldOf(before, field), fieldOf(after, field)))
  return {
    title: words.filter((text) => text !== '').join(' '),
    facts: facts.slice(0, FACT_LIMIT),
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

/** `Unusual usage: Ada, 2026-11-24`, with what it cost and what is usual. */
function anomalyTexts({ after }: Pick<Event, 'after'>): { title: string; facts: string[] } {
  const { subject, day, agent_manager, cost, usual } = after as {
    subject: string
    day: string
    agent_manager?: { name: string }
    cost: unknown
    usual: unknown
  }
  const who = agent_manager ? `${shortened(agent_manager.name)}, ` : ''
  return {
    title: `Unusual ${subject === 'session' ? 'session' : 'usage'}: ${who}${day}`,
    facts: [`cost: ${dollarsText(eventNumber(cost))}`, `usually: ${dollarsText(eventNumber(usual))}`],
  }
}

/** `Budget Acme, monthly: 80% reached`, with what is spent, or forecast, of how much. */
function alertTexts({ object, after }: Pick<Event, 'object' | 'after'>): { title: string; facts: string[] } {
  const { measure, percent, period, spent, forecast, available } = after as {
    measure: string
    percent: number
    /** The first day; null for a budget without a start. */
    period: string | null
    spent?: unknown
    forecast?: unknown
    available: unknown
  }
  const amount = (value: unknown) => measuredText(measure, eventNumber(value))
  const isForecast = forecast !== undefined
  return {
    title: `Budget ${shortened(object?.name ?? '')}: ${isForecast ? `forecast at ${percent}%` : `${percent}% reached`}`,
    facts: [
      `${isForecast ? 'forecast' : 'spent'}: ${amount(isForecast ? forecast : spent)} of ${amount(available)}`,
      ...(period === null ? [] : [`period from: ${period}`]),
    ],
  }
}
