/**
 * A hundred times cheaper than Tally's own hashing, which waits for a thread of low priority on a machine that is busy with
 * other tests. For tests of everything else about passwords.
 */
import type { PasswordHasher } from '../../src/features/people/passwords/hashing-thread.ts'

export const CHEAP_COST = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

export const cheapHasher: PasswordHasher = {
  hash: (password) => Bun.password.hash(password, CHEAP_COST),
  // The only other hash is that of people without a password, which matches none.
  verify: async (password, hash) => hash.startsWith('$argon2id$v=19$m=8,t=1,') && Bun.password.verify(password, hash),
}
