/** The proof of a server that it is the one that has announced itself to commands. */
import { Elysia } from 'elysia'
import { notFound } from '../errors.ts'
import { PROOF_PATH, proofOf, type ServerIdentity } from '../lib/server-proof.ts'
import { access } from './access.ts'

/** 32 random bytes in base64url. */
const NONCE = /^[\w-]{43}$/

/** Not found without an identity, as on PostgreSQL, whose servers leave no address to commands. */
export const proof = ({ identity }: { identity: (() => ServerIdentity) | undefined }) =>
  new Elysia({ name: 'proof' }).use(access()).get(
    PROOF_PATH,
    ({ query: { nonce = '' } }: { query: { nonce?: string } }) => {
      if (!identity || !NONCE.test(nonce)) throw notFound('The proof of this server')
      return { proof: proofOf(identity(), nonce) }
    },
    { allow: 'anyone', detail: { hide: true } },
  )
