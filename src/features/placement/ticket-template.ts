/** The ticket of a rule, in which `{name}` is replaced with a named group of a matched expression. Pure. */

import type { Issue } from '../../errors.ts'
import { hasMoreCharacters } from '../../lib/characters.ts'
import { composeName } from '../../lib/names.ts'
import { type CompiledCondition, groupsOf } from './condition.ts'
import type { Subject } from './subject.ts'

const GROUP = /\{([^{}]*)\}/g

/** The names of the groups that a template uses. */
function groupsUsed(template: string): string[] {
  return [...template.matchAll(GROUP)].map(([, name]) => name!)
}

/** The maximum length of a ticket's key in reports, which also applies to templates. */
export const KEY_LIMIT = 200

/** @param known the groups of the rule's expressions */
export function issuesOfTemplate(template: string, known: string[]): Issue[] {
  const refuse = (code: string, message: string): Issue => ({ pointer: '/ticket', code, message })
  const issue = issueOfKey(template)
  if (issue) return [refuse('bad_format', `must not be ${issue}; use null for no ticket`)]
  if (/[{}]/.test(template.replace(GROUP, ''))) {
    return [refuse('bad_template', 'has an invalid brace; braces are only for groups, such as {name}')]
  }
  return groupsUsed(template)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const groups =
        known.length === 0
          ? 'there are no named groups'
          : `available groups: ${known.map((group) => `{${group}}`).join(', ')}`
      return refuse('unknown_group', `uses {${name}}, which is not a named group in the conditions; ${groups}`)
    })
}

export interface ComposedTicket {
  /** Null if the rule has no ticket, or if the composed text is not a valid key. */
  ticketKey: string | null
  /** Why the rule's ticket was not used. */
  note: string | null
}

interface TicketRule {
  name: string
  ticket: string | null
  conditions: CompiledCondition[]
}

/** Composes the key from the rule's template and the matches of its expressions. */
export function ticketKeyOf(rule: TicketRule, subject: Subject): ComposedTicket {
  if (rule.ticket === null) return { ticketKey: null, note: null }
  const groups = new Map(rule.conditions.flatMap((condition) => Object.entries(groupsOf(condition, subject))))
  const empty = groupsUsed(rule.ticket).find((name) => !groups.get(name))
  if (empty !== undefined) return noTicket(rule, `its group '${empty}' matched nothing`)
  const key = composeName(rule.ticket.replace(GROUP, (_, name) => groups.get(name)!))
  const issue = issueOfKey(key)
  return issue ? noTicket(rule, `the resulting key is ${issue}`) : { ticketKey: key, note: null }
}

function noTicket({ name }: TicketRule, because: string): ComposedTicket {
  return { ticketKey: null, note: `Rule '${name}' assigned no ticket: ${because}.` }
}

/** Why a text is not a valid ticket key. Values from reports are well-formed, but a group may split a character. */
function issueOfKey(key: string): string | undefined {
  if (key.trim() === '') return 'empty'
  if (hasMoreCharacters(key, KEY_LIMIT)) return `longer than ${KEY_LIMIT} characters`
  if (/\p{Cc}/u.test(key)) return 'a string with control characters'
  return key.isWellFormed() ? undefined : 'a malformed Unicode string'
}
