import type { Role } from '../database/schema/values.ts'
import type { Id } from '../lib/id.ts'
import type { Precondition } from './precondition.ts'

export interface Person {
  /** The key inside the database; never shown. */
  id: number
  uid: Id<'usr'>
  email: string
  name: string
  role: Role
  /** Whose deputy a member is at the time of the call. */
  actsFor?: readonly Represented[]
}

/** A person for whom a deputy approves. */
export interface Represented {
  id: number
  uid: Id<'usr'>
  name: string
}

export type TokenCallerKind = 'service' | 'read' | 'organization' | 'api'

/** What a token of a trust is limited to: it reports and reads entries of this project only. */
export interface TokenLimit {
  projectId: number
  /** The key of the project. */
  project: string
  trust: Id<'tru'>
}

/** A program authenticated with a token. */
export interface TokenCaller<Kind extends TokenCallerKind> {
  kind: Kind
  token: {
    id: number
    uid: Id<'tok'>
    name: string
    hint: string
    allowBills: boolean
    expiresAt: number | null
    /** What an API token may do; null for other tokens. */
    scopes: readonly string[] | null
    /** Addresses and networks from which an API token works; null for any. */
    networks: readonly string[] | null
    /** Null for tokens that people create. */
    limit: TokenLimit | null
  }
  /** The creator of the token, who is the agent manager of entries reported with a service token. */
  person: Person
  /** Of this request. */
  precondition?: Precondition | undefined
}

/** A signed-in person, by their session cookie. */
export interface SessionCaller {
  kind: 'session'
  /** `expiresAt` is the latest moment; a session that is not used ends sooner. */
  session: { id: number; signedInAt: number; expiresAt: number }
  person: Person
  /** Of this request. */
  precondition?: Precondition | undefined
}

/** The authenticated caller. Determined by the credential alone, never by the body. */
export type Caller =
  | TokenCaller<'service'>
  | TokenCaller<'read'>
  | TokenCaller<'organization'>
  | TokenCaller<'api'>
  | SessionCaller

export type CallerKind = Caller['kind']

/** Whose rights something has that lasts longer than requests: a person, or one of their API tokens. */
export type Principal = TokenCaller<'api'> | Pick<SessionCaller, 'kind' | 'person'>

/** The caller of a request that accepts only these kinds of credentials. */
export type CallerOf<Kind extends CallerKind> = Extract<Caller, { kind: Kind }>
