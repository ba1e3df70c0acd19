import { Problem } from '../errors.ts'

/** For a key that must not be empty nor endless; printable ASCII, as RFC 8941 strings are. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/

/** The `Idempotency-Key` header's value, or undefined where there is none. Throws 422 for one that is no key. */
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
