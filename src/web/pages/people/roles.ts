import type { api, Body } from '../../server/api.ts'

export type Person = Body<Awaited<ReturnType<ReturnType<typeof api.users>['get']>>>
export type PasswordLink = Body<Awaited<ReturnType<typeof api.users.post>>>

/** The state of an account, as its badge shows it. */
export function stateOf({ disabled_at, erased_at }: Person): 'active' | 'disabled' | 'erased' {
  if (erased_at !== null) return 'erased'
  return disabled_at === null ? 'active' : 'disabled'
}

/** Roles with a one-line description of their permissions. */
export const ROLES: { value: Person['role']; label: string; description: string }[] = [
  {
    value: 'member',
    label: 'Member',
    description: 'Their own entries, sheets and tokens. In projects they lead, all entries and approval.',
  },
  { value: 'billing', label: 'Billing', description: 'All work and money: prices, clients, bills and approval.' },
  { value: 'admin', label: 'Admin', description: 'Everything, including people, all tokens, rules and settings.' },
  {
    value: 'viewer',
    label: 'Viewer',
    description: 'For clients and stakeholders: only the clients and projects that you share with them.',
  },
]
