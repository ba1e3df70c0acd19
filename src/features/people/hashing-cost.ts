/**
 * What a hash costs: above OWASP's least for argon2id (19 MiB, 2 passes). Whoever changes it lets the time of a sign-in
 * tell people whose hash is older from addresses that nobody has, until they have chosen a new password.
 */
export const HASHING_COST = { algorithm: 'argon2id', memoryCost: 65_536, timeCost: 2 } as const
