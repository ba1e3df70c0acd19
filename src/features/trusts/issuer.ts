/**
 * The keys with which providers sign ID tokens. Only issuers that an admin named in a trust are asked, so a stranger's token
 * costs no request; what an answer may cost is bounded, and no redirect is followed.
 */
import type { JSONWebKeySet } from 'jose'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Exchange, ExchangeResponse } from '../../lib/outgoing/exchange.ts'
import { exchangeOnThread } from '../../lib/outgoing/outgoing-thread.ts'

/** A key that a provider withdraws counts this long. */
const KEPT_MS = 600_000

/** A token with an unknown key asks again at most this often, so that many of them ask once. */
const ASK_AGAIN_MS = 30_000

/** Providers answer within milliseconds, and the job waits. */
const TIMEOUT_MS = 5_000

/** GitHub's have 1 and 6 kB. */
const DISCOVERY_BYTES = 65_536
const KEYS_BYTES = 262_144

interface Held {
  keys: JSONWebKeySet
  readAt: number
}

interface Asked {
  at: number
  answer: Promise<Held>
}

type Send = (request: Exchange) => Promise<ExchangeResponse>

export type IssuerKeys = ReturnType<typeof createIssuerKeys>

export function createIssuerKeys(clock: Clock, send: Send = exchangeOnThread) {
  /** By issuer, of which there are as many as admins named. */
  const held = new Map<string, Held>()
  const asked = new Map<string, Asked>()

  function ask(issuer: string): Promise<Held> {
    const now = clock.now()
    const last = asked.get(issuer)
    if (last && now - last.at < ASK_AGAIN_MS) return last.answer
    const answer = readKeys(issuer, send).then((keys) => {
      const read = { keys, readAt: clock.now() }
      held.set(issuer, read)
      return read
    })
    asked.set(issuer, { at: now, answer })
    return answer
  }

  return {
    /** The keys of an issuer, read again if they are old or have none with this id. Throws `issuer_unreachable` (503). */
    async keysOf(issuer: string, keyId: string): Promise<JSONWebKeySet> {
      const known = held.get(issuer)
      const isFresh = known !== undefined && clock.now() - known.readAt < KEPT_MS
      if (isFresh && known.keys.keys.some(({ kid }) => kid === keyId)) return known.keys
      return (await ask(issuer)).keys
    },
  }
}

async function readKeys(issuer: string, send: Send): Promise<JSONWebKeySet> {
  const discovery = await readJson(issuer, `${issuer}/.well-known/openid-configuration`, DISCOVERY_BYTES, send)
  if (discovery.issuer !== issuer) throw unreachable(issuer, 'its configuration names another issuer')
  const address = discovery.jwks_uri
  if (typeof address !== 'string' || !URL.canParse(address) || new URL(address).origin !== new URL(issuer).origin) {
    throw unreachable(issuer, 'its configuration has no address of keys (`jwks_uri`) on the same server')
  }
  const { keys } = await readJson(issuer, address, KEYS_BYTES, send)
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'object' && key !== null)) {
    throw unreachable(issuer, 'it returned no list of keys')
  }
  return { keys }
}

async function readJson(issuer: string, url: string, bodyBytes: number, send: Send): Promise<Record<string, unknown>> {
  const response = await send({ method: 'GET', url, bodyBytes, timeoutMs: TIMEOUT_MS }).catch(
    ({ message }: NodeJS.ErrnoException) => {
      throw unreachable(issuer, message)
    },
  )
  const { status, body, cut } = response
  if (status !== 200) throw unreachable(issuer, `it returned ${status} for ${url}`)
  if (cut !== null) throw unreachable(issuer, `its answer for ${url} is too large, too slow or ended early`)
  try {
    const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  } catch {}
  throw unreachable(issuer, `its answer for ${url} is not a JSON object`)
}

function unreachable(issuer: string, reason: string): Problem {
  return new Problem(
    'issuer_unreachable',
    `The keys of ${issuer} cannot be read: ${reason.replace(/[.?!]$/, '')}. Try again in ${ASK_AGAIN_MS / 1_000} s.`,
    { headers: { 'retry-after': String(ASK_AGAIN_MS / 1_000) } },
  )
}
