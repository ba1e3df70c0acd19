/** The versions of objects as they were read, so that a form does not overwrite what somebody else has changed since. */

const tags = new WeakMap<object, string>()

/** Tags of objects that people change; those of lists and reports are weak. */
const OBJECT_TAG = /^"[\w-]+\./

/** Notes the version that a response has. */
export function noteVersion(data: unknown, response: Response): void {
  const tag = response.headers.get('etag')
  if (tag !== null && OBJECT_TAG.test(tag) && typeof data === 'object' && data !== null) tags.set(data, tag)
}

/** Notes that `kept`, which is cached, has the version of `read`, which is equal. */
export function keepVersion(kept: unknown, read: unknown): void {
  const tag = tags.get(read as object)
  if (tag !== undefined) tags.set(kept as object, tag)
}

/** Undefined if the object was not read by itself. */
export const versionOf = (object: object | undefined): string | undefined => object && tags.get(object)

/** The options of a call that changes an object only if it still has the version. */
export const ifMatch = (version: string | undefined) =>
  version === undefined ? {} : { headers: { 'if-match': version } }
