/**
 * Signatures in the format of minisign, whose own program checks them as well. Only the prehashed kind, which minisign
 * itself writes: https://jedisct1.github.io/minisign/#signature-format
 */
import { createHash, createPublicKey, verify } from 'node:crypto'

/** Why a key cannot be used or a signature does not hold. */
export class SignatureError extends Error {}

export interface PublicKey {
  /** What minisign shows of it: 16 hexadecimal digits. */
  id: string
  /** The 32 bytes of Ed25519. */
  bytes: Uint8Array
}

const ALGORITHM = 'Ed'
const PREHASHED = 'ED'
const KEY_BYTES = 42
const SIGNATURE_BYTES = 74

/** Of the key's id, which follows the two letters of the algorithm. */
const ID_END = 10

const TRUSTED_COMMENT = 'trusted comment: '

/** @param text the file of a public key, or only its second line */
export function readPublicKey(text: string): PublicKey {
  const line = text
    .split(/\r?\n/)
    .map((each) => each.trim())
    .find((each) => each !== '' && !each.startsWith('untrusted comment:'))
  const bytes = decoded(line, KEY_BYTES)
  if (bytes?.toString('latin1', 0, 2) !== ALGORITHM) {
    throw new SignatureError('This is not a public key of minisign.')
  }
  return { id: idOf(bytes), bytes: bytes.subarray(ID_END) }
}

/** The second line of the file of a public key, which `minisign -P` reads. */
export function publicKeyLine({ id, bytes }: PublicKey): string {
  return Buffer.concat([Buffer.from(ALGORITHM), idBytes(id), bytes]).toString('base64')
}

/**
 * Returns the trusted comment, which is signed as well.
 *
 * @param signature the text of the `.minisig` file
 */
export function verifySignature(content: Uint8Array, signature: string, key: PublicKey): string {
  const [, line, comment, commentLine] = signature.split(/\r?\n/)
  const bytes = decoded(line, SIGNATURE_BYTES)
  const commentSignature = decoded(commentLine, SIGNATURE_BYTES - ID_END)
  if (!bytes || !commentSignature || !comment?.startsWith(TRUSTED_COMMENT)) {
    throw new SignatureError('The signature is incomplete or not in the format of minisign.')
  }
  if (bytes.toString('latin1', 0, 2) !== PREHASHED) {
    throw new SignatureError('The signature is of another kind than those of Tally.')
  }
  if (idOf(bytes) !== key.id) {
    throw new SignatureError(`The signature was made with the key ${idOf(bytes)}, not with ${key.id}.`)
  }
  const trusted = comment.slice(TRUSTED_COMMENT.length)
  const x = Buffer.from(key.bytes).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const own = bytes.subarray(ID_END)
  const isValid =
    verify(null, digestOf(content), publicKey, own) &&
    verify(null, signedComment(own, trusted), publicKey, commentSignature)
  if (!isValid) throw new SignatureError('The signature is not valid for this content.')
  return trusted
}

/** @param sign signs bytes with Ed25519 */
export function signatureText(
  content: Uint8Array,
  { id, comment, sign }: { id: string; comment: string; sign: (bytes: Uint8Array) => Uint8Array },
): string {
  const own = sign(digestOf(content))
  const bytes = Buffer.concat([Buffer.from(PREHASHED), idBytes(id), own])
  const commentSignature = Buffer.from(sign(signedComment(own, comment)))
  return [
    `untrusted comment: signature of the key ${id}`,
    bytes.toString('base64'),
    `${TRUSTED_COMMENT}${comment}`,
    commentSignature.toString('base64'),
    '',
  ].join('\n')
}

const digestOf = (content: Uint8Array) => createHash('blake2b512').update(content).digest()

const signedComment = (signature: Uint8Array, comment: string) => Buffer.concat([signature, Buffer.from(comment)])

/** A number, least significant byte first, which minisign prints in the usual order. */
const idOf = (bytes: Buffer) => Buffer.from(bytes.subarray(2, ID_END)).reverse().toString('hex').toUpperCase()

const idBytes = (id: string) => Buffer.from(id, 'hex').reverse()

/** Undefined if it is not base64 of so many bytes. */
function decoded(line: string | undefined, length: number): Buffer | undefined {
  if (line === undefined || !/^[A-Za-z0-9+/]+=*$/.test(line)) return undefined
  const bytes = Buffer.from(line, 'base64')
  return bytes.byteLength === length ? bytes : undefined
}
