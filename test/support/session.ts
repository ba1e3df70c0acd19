/** The API for a signed-in person, for use next to the browser. */

export interface Credentials {
  email: string
  password: string
}

/** `ask('POST /clients', { name })` returns the server's response; an error response fails the test. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it relies on
export type Ask = (methodAndPath: string, body?: unknown) => Promise<any>

/** Of a question that a server refuses because it takes too long. */
const ATTEMPTS = 10

export async function signedInAt(url: string, { email, password }: Credentials): Promise<Ask> {
  const headers = { 'content-type': 'application/json', origin: url }
  const answer = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password }),
  })
  if (!answer.ok) throw new Error(`${email} could not sign in: ${await answer.text()}`)
  const cookie = answer.headers.get('set-cookie')!.split(';', 1)[0]!
  return async (methodAndPath, body) => {
    const [method, path] = methodAndPath.split(' ') as [string, string]
    const send = () =>
      fetch(`${url}/api/v1${path}`, {
        method,
        headers: body === undefined ? { cookie, origin: url } : { ...headers, cookie },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    let response = await send()
    // On a busy machine, reports take longer than a server lets them; pages ask again, too.
    for (let asked = 1; response.status === 503 && method === 'GET' && asked < ATTEMPTS; asked += 1)
      response = await send()
    if (!response.ok) throw new Error(`${methodAndPath} answers ${response.status}: ${await response.text()}`)
    return response.json()
  }
}
