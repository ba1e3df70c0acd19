import type { PublicUrl } from './same-origin.ts'

/**
 * The beginning of links in responses: the public URL, or else the origin of the page in the caller's browser, which
 * `same-origin.ts` has compared with the address of the call. Never for e-mails, which the caller does not read.
 */
export async function linkBase({ headers }: Request, publicUrl: PublicUrl): Promise<string> {
  const known = await publicUrl()
  if (known !== undefined) return known
  const origin = headers.get('origin')
  return origin?.startsWith('http') ? origin : `http://${headers.get('host')}`
}
