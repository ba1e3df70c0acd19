/**
 * The tokens of trusts (docs/design/api.md, "Tokens of trusts"). Each trust has a service and a read token for good, to which
 * what it reports refers, and whose own secret nobody has. Jobs get secrets of minutes that stand for them.
 */
import type { Tx } from '../../../database/database.ts'
import type { TokenKind } from '../../../database/schema/values.ts'
import {
  deleteForgottenSecrets,
  insertExchangedToken,
  insertToken,
  listTokensOfTrust,
  updateTokenRevoked,
} from '../store/tokens.ts'
import { hashOfSecret, newSecret } from './secret.ts'
import { stateOfToken, type Token } from './token.ts'

export const TRUST_TOKEN_KINDS = ['svc', 'read'] as const satisfies TokenKind[]
export type TrustTokenKind = (typeof TRUST_TOKEN_KINDS)[number]

interface TrustKeys {
  id: number
  /** The person whose tokens they are. */
  userId: number
  name: string
}

export const trustTokens = {
  /** In the transaction that adds the trust. */
  async addTokensOfTrust(tx: Tx, { id: trustId, userId: createdBy, name }: TrustKeys, now: number): Promise<void> {
    for (const kind of TRUST_TOKEN_KINDS) {
      const secret = { hash: hashOfSecret(newSecret(kind)), hint: '' }
      await insertToken(tx, { kind, name, ...secret, createdBy, trustId, now })
    }
  },

  /** In the transaction that removes the trust. Secrets that were exchanged stop at once. */
  async revokeTokensOfTrust(tx: Tx, trustId: number, now: number): Promise<void> {
    for (const { id, revokedAt } of await listTokensOfTrust(tx, trustId)) {
      if (revokedAt === null) await updateTokenRevoked(tx, id, now)
    }
  },

  /** The tokens of a trust that work: none if the trust was removed, or if the person is disabled. */
  usableTokensOfTrust: async (tx: Tx, trustId: number, now: number): Promise<Token[]> =>
    (await listTokensOfTrust(tx, trustId)).filter((token) => stateOfToken(token, now) === 'usable'),

  /**
   * A new secret for a token. `assertion` identifies the ID token that it is for; undefined if that has got one for this token
   * before. It is remembered until `forgottenAt`.
   */
  async addSecret(
    tx: Tx,
    { id: tokenId, kind }: Pick<Token, 'id' | 'kind'>,
    times: { assertion: Uint8Array; createdAt: number; expiresAt: number; forgottenAt: number },
  ): Promise<string | undefined> {
    const secret = newSecret(kind)
    return (await insertExchangedToken(tx, { tokenId, hash: hashOfSecret(secret), ...times })) ? secret : undefined
  },

  forgetSecrets: (tx: Tx, now: number) => deleteForgottenSecrets(tx, now),
}
