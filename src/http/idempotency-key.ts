import { Problem } from '../errors.ts'

/** Not empty and of limited length; printable ASCII, like RFC 8941 strings. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/

/** The value of the `Idempotency-Key` header, or undefined if there is none. Throws 422 for an invalid one. */
export function readIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined
  if (!IDEMPOTENCY_KEY.test(header)) {
    throw new Problem(
      'validation_failed',
      'Idempotency-Key must be 1 to 200 printable ASCII characters without spaces.',
      {
        issues: [
          {
            pointer: '/headers/idempotency-key',
            code: 'bad_format',
            message: 'must be 1 to 200 printable ASCII characters without spaces',
          },
        ],
      },
    )
  }
  return header
}
