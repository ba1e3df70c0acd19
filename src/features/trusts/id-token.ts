/** Verifies the ID token of a run (OpenID Connect Core 1.0, section 3.1.3.7). */
import { type Claims, refused } from './claims.ts'
import type { IssuerKeys } from './issuer.ts'

/** Those of GitHub and GitLab have 1 to 2 kB. */
export const ID_TOKEN_LIMIT = 16_384

/** What GitHub and GitLab sign with, and what others may choose instead. */
const ALGORITHMS = ['RS256', 'ES256']

/** By which the clocks of two servers may differ. */
const TOLERANCE_S = 30

/** Those of jobs are valid for minutes, at most as long as a job may take. */
const LIFETIME_LIMIT_MS = 86_400_000

/** What a token says of itself, before anything is known about who wrote it. */
export interface UnverifiedToken {
  text: string
  keyId: string
  issuer: string
}

export interface VerifiedToken {
  claims: Claims
  /** Its id, which is unique for its issuer. */
  id: string
  expiresAt: number
}

/** Throws `id_token_refused` for what is no ID token, or one that is not verified the same way. */
export function readIdToken(text: string): UnverifiedToken {
  const parts = text.split('.')
  if (parts.length !== 3) throw refused('This is not an ID token: a JSON Web Token has three parts separated by dots.')
  const [header, payload] = parts.slice(0, 2).map(partOf) as [Claims, Claims]
  if (!ALGORITHMS.includes(header.alg as string)) {
    throw refused(`The ID token must be signed with ${ALGORITHMS.join(' or ')}.`)
  }
  if (Object.hasOwn(header, 'crit')) throw refused('The ID token has critical extensions, which are not supported.')
  if (typeof header.kid !== 'string') throw refused('The ID token does not say which key signed it (`kid`).')
  if (typeof payload.iss !== 'string') throw refused('The ID token has no issuer (`iss`).')
  return { text, keyId: header.kid, issuer: payload.iss }
}

function partOf(part: string): Claims {
  try {
    const json: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Claims
  } catch {}
  throw refused('This is not an ID token: its parts are not JSON objects.')
}

/** Throws `id_token_refused` and `issuer_unreachable`. */
export async function verified(
  { text, keyId, issuer }: UnverifiedToken,
  { keysOf, audience, now }: { keysOf: IssuerKeys['keysOf']; audience: string; now: number },
): Promise<VerifiedToken> {
  const keys = await keysOf(issuer, keyId)
  // Few servers have trusts, and the others do not pay for it.
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
  const { payload } = await jwtVerify(text, createLocalJWKSet(keys), {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    requiredClaims: ['exp', 'iat', 'jti', 'sub'],
    clockTolerance: TOLERANCE_S,
    currentDate: new Date(now),
  }).catch((error: Error) => {
    // What cannot be read as a key, or is too short for one, is none of its errors.
    throw refused(
      error instanceof errors.JOSEError ? reasonOf(error, audience) : 'The key of the issuer cannot be used.',
    )
  })
  // An ID token that is for others too could be sent here by one of them.
  if (payload.aud !== audience) throw refused(`The audience (\`aud\`) of the ID token must be ${audience} alone.`)
  const { exp, iat, jti } = payload
  if (typeof jti !== 'string' || jti === '') throw refused('The ID token has no id (`jti`).')
  if (iat! > now / 1_000 + TOLERANCE_S)
    throw refused('The ID token was issued in the future. Check the clock of this server.')
  if (exp! * 1_000 - now > LIFETIME_LIMIT_MS) throw refused('The ID token is valid for more than a day.')
  return { claims: payload, id: jti, expiresAt: (exp! + TOLERANCE_S) * 1_000 }
}

function reasonOf(error: Error & { code?: string; claim?: string }, audience: string): string {
  if (error.code === 'ERR_JWT_EXPIRED') return 'The ID token has expired. Request a new one.'
  if (error.claim === 'aud') return `The audience (\`aud\`) of the ID token must be ${audience}.`
  if (error.claim) return `The claim \`${error.claim}\` of the ID token is missing or invalid.`
  if (error.code === 'ERR_JWKS_NO_MATCHING_KEY') return 'The issuer does not publish the key that signed the ID token.'
  return 'The signature of the ID token is not valid.'
}
