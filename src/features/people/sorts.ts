/** What lists of people and of tokens can be sorted by. */

export const USER_SORTS = {
  name: 'text',
  email: 'text',
  role: 'text',
  last_signed_in_at: 'number',
  created_at: 'number',
} as const

export const TOKEN_SORTS = {
  name: 'text',
  kind: 'text',
  user: 'text',
  last_used_at: 'number',
  created_at: 'number',
  expires_at: 'number',
} as const
