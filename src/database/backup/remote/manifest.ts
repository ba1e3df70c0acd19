/**
 * The manifest of the backups that a database has uploaded on one timeline: an object next to them, signed with the key of
 * the database (JWS, RFC 7515 and 8037). It says which objects are its own, and what they were when they were uploaded.
 * Each manifest names the one before, and the server remembers its last one, so that an older one is recognized. Pure.
 */
import { createHash } from 'node:crypto'
import { PublicKey, type SigningKey } from '../identity.ts'
import { NAME_BEGIN, readSealedName } from '../names.ts'

/** An object, as it was uploaded. */
export interface Upload {
  name: string
  bytes: number
  /** Of the object. */
  sha256: string
}

export interface Manifest {
  database: string
  timeline: string
  /** How many manifests there were of this timeline, with this one. */
  sequence: number
  /** The SHA-256 of the one before; null in the first. */
  previous: string | null
  uploads: readonly Upload[]
}

const NAME = /^tally-manifest-([\da-f]{8})\.jws$/

export const manifestName = (timeline: string): string => `${NAME_BEGIN}manifest-${timeline}.jws`

export const isManifestName = (name: string): boolean => NAME.test(name)

/** Retention keeps a few hundred backups, of which each takes less than 300 bytes. */
export const MANIFEST_BYTES = 4 * 1_048_576

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())

export function signManifest(manifest: Manifest, key: SigningKey): string {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.public.bytes).toString('base64url') }
  const signed = `${encoded({ alg: 'EdDSA', jwk })}.${encoded(manifest)}`
  return `${signed}.${key.sign(signed).toString('base64url')}`
}

/** Undefined if the text is no manifest that the database which it names has signed. */
export function readManifest(text: string): Manifest | undefined {
  const [header = '', payload = '', signature = ''] = text.split('.')
  try {
    const { alg, jwk } = decoded(header)
    const key = new PublicKey(Buffer.from(jwk.x, 'base64url'))
    if (alg !== 'EdDSA' || !key.hasSigned(`${header}.${payload}`, Buffer.from(signature, 'base64url'))) return undefined
    const manifest: unknown = decoded(payload)
    return isManifest(manifest) && manifest.database === key.fingerprint ? manifest : undefined
  } catch {
    return undefined
  }
}

/** Anybody can sign anything with a key of their own. */
function isManifest(value: unknown): value is Manifest {
  const { timeline, sequence, previous, uploads } = value as Manifest
  return (
    isManifestName(manifestName(timeline)) &&
    Number.isSafeInteger(sequence) &&
    (previous === null || DIGEST.test(previous)) &&
    uploads.every(
      ({ name, bytes, sha256 }) =>
        readSealedName(name) !== undefined && Number.isSafeInteger(bytes) && bytes >= 0 && DIGEST.test(sha256),
    )
  )
}

const DIGEST = /^[\da-f]{64}$/

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What a server remembers of the manifest in the storage. */
export interface Memory {
  /** The last one that it wrote; null if it has written none. */
  text: string | null
  /** Whether the storage has taken it. */
  isStored: boolean
}

/** What is wrong with the manifest that the storage has; undefined if it is the one that this server wrote last. */
export type Discrepancy = 'missing' | 'not signed by this database' | 'an older one' | 'of another server'

/**
 * A manifest that this server did not write, of its own timeline: another copy of the database writes there, or this
 * server has lost its memory. Nobody else can sign one.
 */
export function discrepancyOf(
  stored: string | undefined,
  { text, isStored }: Memory,
  { database, timeline }: Pick<Manifest, 'database' | 'timeline'>,
): Discrepancy | undefined {
  const mine = text === null ? undefined : readManifest(text)
  if (stored === undefined) return mine && isStored ? 'missing' : undefined
  if (stored === text) return undefined
  const found = readManifest(stored)
  if (found?.database !== database || found.timeline !== timeline) return 'not signed by this database'
  if (!mine || found.sequence >= mine.sequence) return 'of another server'
  return isStored || digestOf(stored) !== mine.previous ? 'an older one' : undefined
}
