/**
 * Whose a backup is. Each database has a signing key, which its backups contain, and is identified by the fingerprint of
 * the public part: who has neither the database nor a backup cannot make a backup of it, or sign anything in its name.
 * What a restored database goes on with is another timeline, as in PostgreSQL: servers remove only backups of their own.
 */
import { Database as Connection } from 'bun:sqlite'
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { Database } from '../database.ts'

/** What a database, or a backup of it, says of itself. */
export interface Identity {
  /** The fingerprint of its signing key. */
  database: string
  timeline: string
  /** When the backup was made; null in a database that is not one. */
  backedUpAt: number | null
}

const TABLES = "('database_identity', 'backup_timeline')"

/** Undefined if an earlier version of Tally has migrated it, which gave databases no identity. */
export function readIdentity(connection: Connection): (Identity & { key: SigningKey }) | undefined {
  const { tables } = connection
    .query<{ tables: number }, []>(
      `SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table' AND name IN ${TABLES}`,
    )
    .get()!
  if (tables < 2) return undefined
  const row = connection
    .query<{ seed: Uint8Array; timeline: string; backedUpAt: number | null }, []>(
      'SELECT signing_key AS seed, timeline, backed_up_at AS backedUpAt FROM database_identity, backup_timeline',
    )
    .get()
  if (!row) return undefined
  const key = new SigningKey(row.seed)
  return { database: key.fingerprint, timeline: row.timeline, backedUpAt: row.backedUpAt, key }
}

export const newTimeline = (): string => crypto.randomUUID().slice(0, 8)

/** The identity of the database in a file, which a server may be using. */
export function identityIn(file: string): ReturnType<typeof readIdentity> {
  const connection = new Connection(file, { readonly: true })
  try {
    return readIdentity(connection)
  } finally {
    connection.close()
  }
}

/** The identity of the database that a server uses. A backup that somebody has put in its place begins a timeline. */
export async function identityOf(db: Pick<Database, 'file' | 'write'>) {
  let current = identityIn(db.file!)!
  const identity = {
    read: () => current,

    /** Begins a timeline, where another copy of the database may go on with this one. */
    async renewTimeline(): Promise<void> {
      await db.write((tx) => tx.update(tx.tables.backupTimeline).set({ timeline: newTimeline(), backedUpAt: null }))
      current = identityIn(db.file!)!
    },
  }
  if (current.backedUpAt !== null) await identity.renewTimeline()
  return identity
}

export type ServerIdentity = Awaited<ReturnType<typeof identityOf>>

/** What precedes the 32 bytes of a key of Ed25519 in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410). */
const PRIVATE_BEGIN = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_BEGIN = Buffer.from('302a300506032b6570032100', 'hex')

const FINGERPRINT_DIGITS = 32

/** The public part of a signing key. */
export class PublicKey {
  readonly #key: KeyObject
  readonly fingerprint: string

  /** Throws if these are not the bytes of a key. */
  constructor(readonly bytes: Uint8Array) {
    this.#key = createPublicKey({ key: Buffer.concat([PUBLIC_BEGIN, bytes]), format: 'der', type: 'spki' })
    this.fingerprint = createHash('sha256').update(bytes).digest('hex').slice(0, FINGERPRINT_DIGITS)
  }

  hasSigned(text: string, signature: Uint8Array): boolean {
    return verify(null, Buffer.from(text), this.#key, signature)
  }
}

export class SigningKey {
  readonly #key: KeyObject
  readonly public: PublicKey

  constructor(readonly seed: Uint8Array) {
    this.#key = createPrivateKey({ key: Buffer.concat([PRIVATE_BEGIN, seed]), format: 'der', type: 'pkcs8' })
    const spki = createPublicKey(this.#key).export({ format: 'der', type: 'spki' })
    this.public = new PublicKey(spki.subarray(PUBLIC_BEGIN.length))
  }

  get fingerprint(): string {
    return this.public.fingerprint
  }

  sign(text: string): Buffer {
    return sign(null, Buffer.from(text), this.#key)
  }
}
