/**
 * What a hash costs: OWASP's least memory for argon2id (19 MiB) and four times its passes. It takes as long as the 64 MiB
 * and 2 passes of hashes that are older: otherwise the time of a sign-in would tell people who have one from addresses that
 * nobody has. More memory would be a quarter of what a server may hold.
 */
export const HASHING_COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 8 } as const
