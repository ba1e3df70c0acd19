/** An alert of a budget in a few words, as a chat shows it. Pure. */
import type { Event } from '../../events/schema.ts'
import { dollars } from './dollars.ts'
import { shortened } from './short-text.ts'

const COUNT = new Intl.NumberFormat('en-US')

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
  const amount = (value: unknown) =>
    measure === 'tokens' ? `${COUNT.format(Number(JSON.stringify(value)))} tokens` : dollars(value)
  const isForecast = forecast !== undefined
  return {
    title: `Budget ${shortened(object?.name ?? '')}: ${isForecast ? `forecast at ${percent}%` : `${percent}% reached`}`,
    facts: [
      `${isForecast ? 'forecast' : 'spent'}: ${amount(isForecast ? forecast : spent)} of ${amount(available)}`,
      ...(period === null ? [] : [`period from: ${period}`]),
    ],
  }
}
