/**
 * The text of a token: its prefix, 32 random characters, and a checksum of both, so that secret scanners and the
 * server can tell a mistyped token from an unknown one without a lookup (docs/design/api.md, "Who may call").
 */
import type { TokenKind } from '../../../database/schema/values.ts'
import { randomBase62, toBase62 } from '../../../lib/base62.ts'

/** 190 bits: impossible to guess, however many tokens there are. */
const RANDOM_CHARACTERS = 32

/** 62^6 is above 2^32, so every CRC32 fits. */
const CHECKSUM_CHARACTERS = 6

/** How many of the random characters are stored in the clear, so that people recognize a token in a list. */
const HINT_CHARACTERS = 6

const SHAPE = /^tally_(svc|read|org|api)_[0-9A-Za-z]{38}$/

const checksum = (text: string) => toBase62(Bun.hash.crc32(text), CHECKSUM_CHARACTERS)

export function newSecret(kind: TokenKind): string {
  const text = `tally_${kind}_${randomBase62(RANDOM_CHARACTERS)}`
  return text + checksum(text)
}

/** Why the text cannot be a token; undefined if it is well-formed. */
export function issueOfSecret(secret: string): 'foreign' | 'mistyped' | undefined {
  if (!secret.startsWith('tally_')) return 'foreign'
  if (!SHAPE.test(secret)) return 'mistyped'
  const body = secret.slice(0, -CHECKSUM_CHARACTERS)
  return secret.endsWith(checksum(body)) ? undefined : 'mistyped'
}

/**
 * The hash that the database stores instead of the secret. A fast hash is sufficient: unlike a password, 190 random
 * bits cannot be brute-forced. The time of a lookup reveals nothing useful, since callers cannot choose hashes.
 */
export function hashOfSecret(secret: string): Uint8Array {
  return Bun.SHA256.hash(secret) as Uint8Array
}

/** The same hash in hexadecimal digits, for keys of maps. */
export function hexHashOfSecret(secret: string): string {
  return Bun.SHA256.hash(secret, 'hex')
}

export function hintOfSecret(secret: string): string {
  const start = secret.indexOf('_', 'tally_'.length) + 1
  return secret.slice(start, start + HINT_CHARACTERS)
}
