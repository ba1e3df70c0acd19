/** An alert of a budget in a few words, as a chat shows it. Pure. */

import { measuredText } from '../../../lib/display-numbers.ts'
import type { Event } from '../../events/schema.ts'
import { eventNumber } from './event-number.ts'
import { shortened } from './short-text.ts'

/** `Budget Acme, monthly: 80% reached`, with what is spent, or forecast, of how much. */
export function alertTexts({ object, after }: Pick<Event, 'object' | 'after'>): { title: string; facts: string[] } {
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
