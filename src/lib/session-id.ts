/** Ids of sessions that are stored as a hash, after retention or an erasure: the session continues, its id is unknown. */

const PREFIX = 'sha256:'

/** An id that is a hash already stays as it is. */
export function hashOfSessionId(sessionId: string): string {
  if (isHashedSessionId(sessionId)) return sessionId
  return PREFIX + new Bun.CryptoHasher('sha256').update(sessionId).digest('base64url')
}

function isHashedSessionId(sessionId: string): boolean {
  return sessionId.startsWith(PREFIX) && sessionId.length === PREFIX.length + HASH_CHARACTERS
}

/** 256 bits in base64url. */
const HASH_CHARACTERS = 43
