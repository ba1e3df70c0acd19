/**
 * The cost of a hash: OWASP's minimum memory for argon2id (19 MiB) with four times its passes. It takes as long as the
 * 64 MiB and 2 passes of older hashes: otherwise the time of a sign-in would distinguish people with an old hash from
 * unknown addresses. More memory would be a quarter of a server's limit.
 */
export const HASHING_COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 8 } as const
