/** Addresses of backups in S3-compatible storage: `s3://bucket/prefix/`, and `s3://bucket/prefix/name` of one object. */

export interface S3Place {
  bucket: string
  /** Empty, or with a slash at its end. */
  prefix: string
  /** The object's name after the prefix; undefined if the place is a folder. */
  name: string | undefined
}

/** As S3 allows them. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** Characters that S3 calls safe. Names with others need escapes that not every server understands. */
const SAFE_PREFIX = /^([\w!*'()=@+:,.-]+\/)*$/

export const isS3Address = (text: string): boolean => /^s3:/i.test(text)

/**
 * Undefined if the text is not a valid address. The last part is the name of an object if `isName` says so, and a folder
 * otherwise, with or without a slash at its end.
 */
export function parseS3Place(text: string, isName: (name: string) => boolean = () => false): S3Place | undefined {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)\/*(.*)$/i.exec(text) ?? []
  if (!BUCKET.test(bucket)) return undefined
  const parts = path.split('/').filter(Boolean)
  const last = parts.at(-1)
  const name = last !== undefined && !path.endsWith('/') && isName(last) ? parts.pop() : undefined
  const prefix = parts.map((part) => `${part}/`).join('')
  if (!SAFE_PREFIX.test(prefix) || parts.some((part) => /^\.+$/.test(part))) return undefined
  return { bucket, prefix, name }
}

export const s3Address = ({ bucket, prefix, name = '' }: S3Place): string => `s3://${bucket}/${prefix}${name}`
