/** The kinds of things that wait for somebody, and whom each concerns. Pure. */
import type { Role } from '../../database/schema/values.ts'
import type { Scope } from '../../shared/token-scopes.ts'

interface Kind {
  description: string
  /** The roles that it concerns; every role if absent. */
  roles?: readonly Role[]
  /** What an API token needs to read the list; without one, only people can. */
  scope?: Scope
}

const BOOKS = ['billing', 'admin'] as const

/** In the order in which a person works through them. */
export const KINDS = {
  sheets_to_approve: {
    description: 'token sheets that the person can approve; `list` is the path of all pending approvals',
    scope: 'entries:read',
  },
  entries_to_approve: {
    description:
      'reported entries that the person can approve; for billing and admins, only if bills require approval. Several items if one list cannot contain them all',
    scope: 'entries:read',
  },
  returned_sheets: { description: 'own token sheets that were returned for correction', scope: 'sheets:read' },
  overdue_sheets: { description: 'own open token sheets whose period is over', scope: 'sheets:read' },
  own_held_entries: {
    description: 'own entries that are held because another person has reported the same session',
    roles: ['member'],
    scope: 'entries:read',
  },
  held_entries: {
    description: 'entries that are held because two people have reported the same session',
    roles: BOOKS,
    scope: 'entries:read',
  },
  possible_duplicates: {
    description: 'possible duplicates that are neither approved nor rejected',
    roles: BOOKS,
    scope: 'entries:read',
  },
  unattributed_entries: {
    description: 'visible entries that are not assigned to a project or ticket',
    scope: 'entries:read',
  },
  unpriced_entries: { description: 'entries whose cost is unknown', roles: BOOKS, scope: 'entries:read' },
  conflicting_tickets: {
    description: 'tickets that were reported under different projects',
    roles: BOOKS,
    scope: 'projects:read',
  },
  rule_proposals: { description: 'proposed placement rules', roles: ['admin'] },
  failed_deliveries: {
    description: 'bills, neither paid nor void, whose latest e-mail failed',
    roles: BOOKS,
    scope: 'bills:read',
  },
  unclosed_periods: {
    description: 'used periods of plans that have ended and are not closed',
    roles: BOOKS,
    scope: 'plans:read',
  },
  unread_agents: { description: 'own agents with sessions that Tally could not read' },
  failing_webhooks: {
    description: 'webhooks that fail, are suspended, or were disabled because they failed',
    roles: ['admin'],
    scope: 'webhooks:manage',
  },
} as const satisfies Record<string, Kind>

export type InboxKind = keyof typeof KINDS
export const INBOX_KINDS = Object.keys(KINDS) as InboxKind[]

/** The scopes of which an API token needs one. */
export const ANY_SCOPE = [...new Set(INBOX_KINDS.flatMap((kind) => (KINDS[kind] as Kind).scope ?? []))]

/**
 * The kinds that concern a role.
 * @param reads whether a token may read what needs a scope, or, for undefined, what only people may read
 */
export function kindsFor(role: Role, reads: (scope: Scope | undefined) => boolean): ReadonlySet<InboxKind> {
  return new Set(
    INBOX_KINDS.filter((name) => {
      const { roles, scope }: Kind = KINDS[name]
      return (roles === undefined || roles.includes(role)) && reads(scope)
    }),
  )
}
