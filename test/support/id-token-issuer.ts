/** An issuer of ID tokens on this machine, as GitHub and GitLab are: its configuration, its keys, and tokens that it signs. */
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose'

export interface IdTokenIssuer {
  url: string
  /** How often its configuration and its keys were read. */
  requests: string[]
  /** Replaces the answer for a path. */
  answers: Map<string, () => Response | Promise<Response>>
  key: SigningKey
  /** What it publishes. */
  published: JWK[]
  /** Signs with the key and header of this token only. */
  sign(
    claims: Record<string, unknown>,
    options?: { header?: Partial<JWTHeaderParameters>; key?: SigningKey },
  ): Promise<string>
  close(): Promise<void>
}

export interface SigningKey {
  privateKey: CryptoKey
  publicJwk: JWK
  alg: string
}

export async function newKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }, alg }
}

export async function startIssuer(): Promise<IdTokenIssuer> {
  const requests: string[] = []
  const answers: IdTokenIssuer['answers'] = new Map()
  const key = await newKey('first')
  const published = [key.publicJwk]
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }): Response | Promise<Response> {
      const { pathname, origin } = new URL(url)
      requests.push(pathname)
      const answer = answers.get(pathname)
      if (answer) return answer()
      if (pathname === '/.well-known/openid-configuration')
        return Response.json({ issuer: origin, jwks_uri: `${origin}/keys` })
      return pathname === '/keys' ? Response.json({ keys: published }) : new Response('none', { status: 404 })
    },
  })
  const url = server.url.origin
  return {
    url,
    requests,
    answers,
    key,
    published,
    sign: (claims, { header = {}, key: by = key } = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: by.alg, kid: by.publicJwk.kid!, ...header }).sign(by.privateKey),
    close: () => server.stop(true),
  }
}
