/**
 * Signatures as Standard Webhooks defines them (https://www.standardwebhooks.com): an HMAC-SHA256 of the id, the time and the
 * body, so that a receiver knows that a message is from this server, unchanged and recent. Pure but for {@link newSecret}.
 */

import { timingSafeEqual } from 'node:crypto'

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32

const PREFIX = 'whsec_'

export interface SignedMessage {
  /** The same for every attempt, so that a receiver recognizes repeated messages. */
  id: string
  /** Seconds since 1970, of this attempt: a receiver rejects old messages, which may be replayed. */
  sentAtSeconds: number
  body: string
}

export function newSecret(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
}

/** `whsec_…`, as libraries of receivers take it. */
export function secretText(secret: Uint8Array): string {
  return PREFIX + Buffer.from(secret).toString('base64')
}

/** The bytes of `whsec_…`; undefined if it is none. */
export function parseSecret(text: string): Uint8Array | undefined {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  return Buffer.from(encoded, 'base64')
}

/** The headers of a message. During a rotation it has a signature by each of two secrets, and a receiver accepts either. */
export function signedHeaders(message: SignedMessage, secrets: readonly Uint8Array[]): Record<string, string> {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.sentAtSeconds),
    'webhook-signature': secrets.map((secret) => signatureOf(message, secret)).join(' '),
  }
}

export function signatureOf({ id, sentAtSeconds, body }: SignedMessage, secret: Uint8Array): string {
  const hmac = new Bun.CryptoHasher('sha256', secret).update(`${id}.${sentAtSeconds}.${body}`)
  return `v1,${hmac.digest('base64')}`
}

/** How far the time of a message may differ from that of its receiver: older ones may be replayed. */
const TOLERANCE_SECONDS = 300

/** Why a received message is not from the holder of the secret, or too old; undefined if its signature is right. */
export function signatureIssue(
  headers: Headers,
  body: string,
  { secret, now }: { secret: Uint8Array; now: number },
): string | undefined {
  const [id, sentAt, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers.get(`webhook-${name}`))
  if (!id || !sentAt || !signatures) return 'it is not signed: a header webhook-id, -timestamp or -signature is missing'
  const sentAtSeconds = Number(sentAt)
  if (!Number.isInteger(sentAtSeconds)) return 'webhook-timestamp is not a number of seconds'
  if (Math.abs(now / 1_000 - sentAtSeconds) > TOLERANCE_SECONDS) {
    return 'webhook-timestamp differs from the time of this machine by more than five minutes'
  }
  const expected = Buffer.from(signatureOf({ id, sentAtSeconds, body }, secret))
  const isRight = signatures.split(' ').some((signature) => isEqual(Buffer.from(signature), expected))
  return isRight ? undefined : 'the signature was made with another secret, or the body was changed'
}

/** In a time that does not depend on how much of the signature is right. */
function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
