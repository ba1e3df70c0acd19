import type { Role } from '../../database/tables.ts'
import type { Id } from '../../lib/id.ts'

export interface Person {
  /** The key inside the database; never shown. */
  id: number
  uid: Id<'usr'>
  email: string
  name: string
  role: Role
}

/** Who is calling, decided by the credential alone and never by a body. */
export interface Caller {
  kind: 'service' | 'read' | 'organization'
  token: { id: number; uid: Id<'tok'>; name: string; hint: string; allowBills: boolean; expiresAt: number | null }
  /** The creator of the token: of entries reported with a service token, the agent manager. */
  person: Person
}
