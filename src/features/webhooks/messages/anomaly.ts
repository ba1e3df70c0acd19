/** An anomaly in a few words, as a chat shows it. Pure. */

import { dollarsText } from '../../../lib/display-numbers.ts'
import type { Event } from '../../events/schema.ts'
import { eventNumber } from './event-number.ts'
import { shortened } from './short-text.ts'

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
    facts: [`cost: ${dollarsText(eventNumber(cost))}`, `usually: ${dollarsText(eventNumber(usual))}`],
  }
}
