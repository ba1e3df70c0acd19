/**
 * What API tokens may do. A scope only limits: a call also needs the role that its route requires, at the moment of the
 * call. Imports nothing but roles, because the web application loads it too.
 */
import type { Role } from '../database/schema/values.ts'

interface ScopeDefinition {
  description: string
  /** The roles that can use it; every role if absent. */
  roles?: readonly Role[]
}

/** Any scope of an area includes its `read`. */
export const SCOPES = {
  'entries:read': { description: 'Read entries, approvals and reports' },
  'entries:place': {
    description: 'Assign entries to projects and tickets, divide them, and change their summary and labels',
  },
  'entries:correct': {
    description: 'Correct usage, times, models and providers of entries',
    roles: ['billing', 'admin'],
  },
  'entries:approve': { description: 'Approve, reject, reopen and void entries; approve and return token sheets' },
  'sheets:read': { description: 'Read token sheets' },
  'sheets:write': { description: 'Fill in, submit and remove token sheets' },
  'projects:read': { description: 'Read clients, projects and tickets' },
  'projects:write': { description: 'Add, change, merge and archive clients, projects and tickets' },
  'rules:read': { description: 'Read and test placement rules', roles: ['billing', 'admin'] },
  'rules:write': { description: 'Change and apply placement rules', roles: ['admin'] },
  'prices:read': { description: 'Read prices' },
  'prices:write': { description: 'Set and load prices, and value entries again', roles: ['billing', 'admin'] },
  'bills:read': { description: 'Read bills and their documents', roles: ['billing', 'admin'] },
  'bills:write': {
    description: 'Send, void, credit and deliver bills, and record payments',
    roles: ['billing', 'admin'],
  },
  'budgets:read': { description: 'Read budgets, what is spent of them, and alerts' },
  'budgets:write': { description: 'Add, change, archive and test budgets', roles: ['billing', 'admin'] },
  'plans:read': { description: 'Read plans and their fees', roles: ['billing', 'admin'] },
  'plans:write': { description: 'Add, change, end and load plans', roles: ['billing', 'admin'] },
  'people:read': { description: 'Read people', roles: ['admin'] },
  'people:write': {
    description: 'Rename, disable and enable people, and change the addresses of their telemetry',
    roles: ['admin'],
  },
  'events:read': { description: 'Read and follow events, as far as their objects are visible' },
  'settings:read': { description: 'Read settings' },
  'audit:read': { description: 'Read the audit log', roles: ['admin'] },
  'webhooks:manage': {
    description: 'Read, add, change, test, take over and remove webhooks, which are sent what the token may read',
    roles: ['admin'],
  },
  'telemetry:read': { description: 'Read the status of telemetry', roles: ['billing', 'admin'] },
} as const satisfies Record<string, ScopeDefinition>

export type Scope = keyof typeof SCOPES
export const SCOPE_NAMES = Object.keys(SCOPES) as Scope[]

export function isScope(text: string): text is Scope {
  return Object.hasOwn(SCOPES, text)
}

/** The roles that can use a scope; undefined for every role. */
export function rolesOfScope(scope: Scope): readonly Role[] | undefined {
  return (SCOPES[scope] as ScopeDefinition).roles
}

/** Whether the scopes of a token include what is needed: one of an area includes reading in it. */
export function includesScope(scopes: readonly string[], needed: Scope): boolean {
  if (scopes.includes(needed)) return true
  const [area, what] = needed.split(':') as [string, string]
  return what === 'read' && scopes.some((scope) => scope.startsWith(`${area}:`))
}

/**
 * What a route that a signed-in person may call needs of an API token: one of these scopes, any scope, or a person
 * (`people-only`): sign-in, passwords, sessions, tokens, roles and settings cannot be changed with an API token.
 */
export type RouteScope = Scope | readonly Scope[] | 'any' | 'people-only'

/** The scopes of which a route needs one; undefined if none lets a token call it, and all if any does. */
export function scopesOfRoute(scope: RouteScope | undefined): readonly Scope[] | undefined {
  if (scope === undefined || scope === 'people-only') return undefined
  if (scope === 'any') return SCOPE_NAMES
  return typeof scope === 'string' ? [scope] : (scope as readonly Scope[])
}
