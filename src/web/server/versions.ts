/** The versions of objects as they were read, so that a form does not overwrite what somebody else has changed since. */

const tags = new WeakMap<object, string>()

/** Tags of objects that people change; those of lists and reports are weak. */
const OBJECT_TAG = /^"[\w-]+\./

/** Notes the version that a response has. */
export function noteVersion(data: unknown, response: Response): void {
  const tag = response.headers.get('etag')
  if (tag !== null && OBJECT_TAG.test(tag) && typeof data === 'object' && data !== null) tags.set(data, tag)
}

/** Notes that `kept`, which is cached, and its members have the versions of `read`, which is equal. */
export function keepVersion(kept: unknown, read: unknown): void {
  if (!isObject(kept) || !isObject(read)) return
  for (const [to, from] of [[kept, read], ...Object.keys(read).map((name) => [kept[name], read[name]])]) {
    const tag = isObject(from) ? tags.get(from) : undefined
    if (tag !== undefined) tags.set(to as object, tag)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Undefined if the object was not read by itself. */
export const versionOf = (object: object | undefined): string | undefined => object && tags.get(object)

/** The options of a call that changes an object only if it still has the version. */
export const ifMatch = (version: string | undefined) =>
  version === undefined ? {} : { headers: { 'if-match': version } }
