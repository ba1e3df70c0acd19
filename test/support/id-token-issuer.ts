/** An issuer of ID tokens on this machine, as GitHub and GitLab are: its configuration, its keys, and tokens that it signs. */
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose'

export interface IdTokenIssuer {
  url: string
  /** How often its configuration and its keys were read. */
  requests: string[]
  /** Replaces the answer for a path. */
  answers: Map<string, (request: Request) => Response | Promise<Response>>
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

let runs = 0

/** What GitHub says of a job of a pull request. */
export const gitHubClaims = (iss: string, aud: string, more: Record<string, unknown> = {}) => ({
  ...{ iss, aud, sub: 'repo:acme/web:pull_request', jti: `run-${++runs}` },
  ...{ iat: Math.floor(Date.now() / 1_000), exp: Math.floor(Date.now() / 1_000) + 300 },
  ...{ repository: 'acme/web', repository_id: '42', ref: 'refs/pull/7/merge', event_name: 'pull_request' },
  ...more,
})

/** What GitLab says of a job of a merge request. */
export const gitLabClaims = (iss: string, aud: string) =>
  gitHubClaims(iss, aud, {
    ...{ project_id: '7', project_path: 'acme/lab', ref: 'feature', ref_type: 'branch' },
    pipeline_source: 'merge_request_event',
  })

/** Issues ID tokens to jobs of GitHub that have this token, and returns the variables of such a job. */
export function issueToJobs(issuer: IdTokenIssuer, requestToken: string): Record<string, string> {
  issuer.answers.set('/id-token', async ({ url, headers }) => {
    if (headers.get('authorization') !== `Bearer ${requestToken}`) return new Response('', { status: 401 })
    const { audience, version } = Object.fromEntries(new URL(url).searchParams)
    if (version !== '2') return new Response('', { status: 400 })
    return Response.json({ value: await issuer.sign(gitHubClaims(issuer.url, audience!)) })
  })
  return {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/id-token?version=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
  }
}

export async function startIssuer(): Promise<IdTokenIssuer> {
  const requests: string[] = []
  const answers: IdTokenIssuer['answers'] = new Map()
  const key = await newKey('first')
  const published = [key.publicJwk]
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request): Response | Promise<Response> {
      const { pathname, origin } = new URL(request.url)
      requests.push(pathname)
      const answer = answers.get(pathname)
      if (answer) return answer(request)
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
