import type { api, Body } from '../../server/api.ts'

export type Person = Body<Awaited<ReturnType<ReturnType<typeof api.users>['get']>>>
export type PasswordLink = Body<Awaited<ReturnType<typeof api.users.post>>>

/** What a role lets somebody do, in a line each. */
export const ROLES: { value: Person['role']; label: string; description: string }[] = [
  {
    value: 'member',
    label: 'member',
    description: 'Own entries, sheets and tokens; all entries of projects they lead, and approving there.',
  },
  { value: 'billing', label: 'billing', description: 'Sees all work and money: prices, clients, bills, approval.' },
  { value: 'admin', label: 'admin', description: 'Everything: people, all tokens, rules, settings.' },
]
