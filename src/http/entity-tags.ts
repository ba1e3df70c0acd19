/**
 * Entity tags (RFC 9110, section 8.8.3). Most are weak: a tag covers the plain and the compressed bytes. Those of objects
 * that people change are strong, since `If-Match` takes no others: `"<version>.<content>"`, with the encoding at the end.
 */
import type { Caller } from '../access/caller.ts'

/** Responses that a browser keeps, and asks for each time whether they are still valid. */
export const REVALIDATED = 'private, no-cache'

/**
 * A tag of some texts that together determine the response. Cryptographic, so that nobody can choose two names of a
 * project for which others see the old one.
 */
export function entityTag(texts: readonly (string | Uint8Array)[]): string {
  const hash = new Bun.CryptoHasher('sha256')
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return `W/"${hash.digest('base64url').slice(0, TAG_CHARACTERS)}"`
}

/** 132 bits. */
const TAG_CHARACTERS = 22

/** A tag of a response to a caller. People never share tags, even if they see the same. */
export function callerTag(caller: Caller, texts: readonly (string | Uint8Array)[]): string {
  return entityTag([String(caller.person.id), ...texts])
}

/** Whether the client already has the response with this tag. */
export function hasTag({ headers }: Request, tag: string): boolean {
  const sent = headers.get('if-none-match')
  if (sent === null) return false
  return sent.split(',').some((each) => {
    const known = each.trim()
    return known === '*' || opaque(known) === opaque(tag)
  })
}

/** Tags are compared without their strength. */
const opaque = (tag: string) => tag.replace(/^W\//, '')

/** The tag of an object: its version, which `If-Match` compares, and the content, which `If-None-Match` does, too. */
export function objectTag(version: string, content: string, encoding: string | undefined): string {
  return `"${version}.${opaque(content).slice(1, -1)}${encoding === undefined ? '' : `-${encoding}`}"`
}

/**
 * The versions in an `If-Match`; undefined if any will do. Figures that change by themselves do not matter to a change, so
 * the contents are not compared.
 */
export function matchedVersions({ headers }: Request): string[] | undefined {
  const sent = headers.get('if-match')
  if (sent === null || sent.trim() === '*') return undefined
  return sent.split(',').flatMap((each) => /^(?:W\/)?"([\w-]+)/.exec(each.trim())?.[1] ?? [])
}

/** The part of a handler's context that the response is made with. */
interface Call {
  request: Request
  caller: Caller | null
  set: { status?: unknown; headers: Record<string, string | number | string[] | undefined> }
}

/** Tells a client that what it has is still valid. The tag is in `set`. */
export function notModified(set: Call['set']): Response {
  // Also for the metrics.
  set.status = 304
  return new Response(null, { status: 304, headers: { 'cache-control': REVALIDATED, vary: 'accept-encoding' } })
}

/**
 * The response to a call whose content is determined by `version`: none (304) if the client has it already, without
 * making it. If the version is unknown, the content is made and compared with what the client has.
 *
 * Read the version before the content: a change in between then only leads to an additional request.
 */
export async function versioned<Content>(
  { request, caller, set }: Call,
  version: string | undefined,
  read: () => Promise<Content>,
): Promise<Content> {
  if (version === undefined || caller === null) return read()
  const tag = callerTag(caller, [version])
  // Clients get a 304 only if they ask for it, so it is not part of the declared type.
  const content = hasTag(request, tag) ? (notModified(set) as Content) : await read()
  // Not before: a problem has no tag.
  set.headers.etag = tag
  return content
}
