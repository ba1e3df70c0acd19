/** The ticket of a rule, in which `{name}` stands for a named group of a matched expression. Pure. */
import { composeName } from '../../lib/names.ts'
import { type CompiledCondition, groupsOf } from './condition.ts'
import type { Subject } from './subject.ts'

const GROUP = /\{([^{}]*)\}/g

/** The names of the groups that a template uses. */
export function groupsUsed(template: string): string[] {
  return [...template.matchAll(GROUP)].map(([, name]) => name!)
}

/** As long as a ticket's key may be where a report names it. */
const KEY_LIMIT = 200
const CONTROL = /\p{Cc}/u

export interface ComposedTicket {
  /** Null where the rule gives none, or where what it composed cannot be a key. */
  ticketKey: string | null
  /** Why there is no ticket although the rule gives one. */
  note: string | null
}

interface TicketRule {
  name: string
  ticket: string | null
  conditions: CompiledCondition[]
}

/** The key that the rule's template makes of what its expressions matched. */
export function ticketKeyOf(rule: TicketRule, subject: Subject): ComposedTicket {
  if (rule.ticket === null) return { ticketKey: null, note: null }
  const groups = Object.assign({}, ...rule.conditions.map((condition) => groupsOf(condition, subject)))
  const missing = groupsUsed(rule.ticket).find((name) => !groups[name])
  if (missing !== undefined) return noTicket(rule, `its group '${missing}' matched nothing`)
  const key = composeName(rule.ticket.replace(GROUP, (_, name) => groups[name]))
  if (key.length === 0) return noTicket(rule, 'what it composed is empty')
  if (key.length > KEY_LIMIT) return noTicket(rule, `what it composed has more than ${KEY_LIMIT} characters`)
  if (CONTROL.test(key)) return noTicket(rule, 'what it composed holds control characters')
  if (!key.isWellFormed()) return noTicket(rule, 'what it composed is not well-formed text')
  return { ticketKey: key, note: null }
}

function noTicket({ name }: TicketRule, because: string): ComposedTicket {
  return { ticketKey: null, note: `Rule '${name}' gave no ticket: ${because}.` }
}
