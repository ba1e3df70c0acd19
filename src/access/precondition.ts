/** What a request requires of the object that it changes: the header `If-Match` (RFC 9110, section 13.1.1). */

/** What exists once, and has its kind as id: the settings, the logo, and the order of the placement and of the funding rules. */
export const SINGLE_KINDS = ['organization', 'logo', 'placement-rules', 'funding-rules'] as const

/** The prefix of the object's id, or one of those that exist once. */
export type ObjectKind =
  | (typeof SINGLE_KINDS)[number]
  | 'prj'
  | 'cli'
  | 'tkt'
  | 'usr'
  | 'tok'
  | 'rul'
  | 'ent'
  | 'sht'
  | 'bil'
  | 'pld'
  | 'bdg'
  | 'whk'
  | 'pln'
  | 'frl'
  | 'tru'

export interface Precondition {
  kind: ObjectKind
  /** Undefined if the request names the object otherwise: then it is the first one of its kind that changes. */
  objectId: string | undefined
  /** The versions of the object that the caller accepts, as in the entity tags of its `GET`. */
  versions: readonly string[]
  /** Whether a transaction in which it was met is committed: what it changed itself is not a change by others. */
  isMet: boolean
  /** The runs of transactions in which it was met; see `Tx.run`. */
  metIn: WeakSet<object>
}

/** Whether the precondition is about this object: a change may be recorded for others, too. */
export function concerns({ kind, objectId }: Precondition, changedId: string): boolean {
  return objectId === undefined ? changedId.startsWith(`${kind}_`) : changedId === objectId
}
