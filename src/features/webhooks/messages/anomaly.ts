/** An anomaly in a few words, as a chat shows it. Pure. */
import type { Event } from '../../events/schema.ts'
import { shortened } from './short-text.ts'

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

/** `Unusual usage: Ada, 2026-11-24`, with what it cost and what is usual. */
export function anomalyTexts({ after }: Pick<Event, 'after'>): { title: string; facts: string[] } {
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
    facts: [`cost: ${dollars(cost)}`, `usually: ${dollars(usual)}`],
  }
}

/** Money may be raw JSON, whose text is its digits. */
const dollars = (amount: unknown) => DOLLARS.format(Number(JSON.stringify(amount)))
