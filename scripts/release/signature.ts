/**
 * The signature of a release: of its checksums, in the format of minisign. The same key and checksums give the same
 * signature. TALLY_SIGNING_KEY_FILE names the file of the secret key, which `minisign -G -W` makes; a key that a password
 * protects is used by minisign itself, which asks for it (docs/operations/releases.md).
 */
import { createPrivateKey, type KeyObject, sign as signBytes } from 'node:crypto'
import { join } from 'node:path'
import { type PublicKey, publicKeyLine, readPublicKey, signatureText, verifySignature } from '../../src/lib/minisign.ts'

/** Where the public key is in the repository. Executables of a release contain it, to check later releases. */
export const PUBLIC_KEY = 'packaging/minisign.pub'

export interface SigningKey {
  publicKey: PublicKey
  privateKey: KeyObject
}

const SECRET_KEY_BYTES = 158

/** The parts of a secret key: two letters each for the algorithms, then salt and limits of the password's. */
const KDF_AT = 2
const ID_AT = 54
const SEED_AT = 62
const PUBLIC_AT = 94
const CHECKSUM_AT = 126

/**
 * The key to sign with; undefined if `file` is. Throws if it can't be used, or is not the one of the repository.
 *
 * @param root the folder of the repository
 */
export async function signingKey(file: string | undefined, root: string): Promise<SigningKey | undefined> {
  if (!file) return undefined
  const text = await Bun.file(file)
    .text()
    .catch(({ message }: Error) => {
      throw new Error(`TALLY_SIGNING_KEY_FILE can't be read: ${message}`)
    })
  const key = readSecretKey(text, file)
  const published = Bun.file(join(root, PUBLIC_KEY))
  if (await published.exists()) {
    const expected = readPublicKey(await published.text())
    if (publicKeyLine(expected) !== publicKeyLine(key.publicKey)) {
      throw new Error(
        `TALLY_SIGNING_KEY_FILE has the key ${key.publicKey.id}, but ${PUBLIC_KEY} has ${expected.id}, which users check releases with. Use that one, or replace ${PUBLIC_KEY} first.`,
      )
    }
  }
  return key
}

function readSecretKey(text: string, file: string): SigningKey {
  const bytes = Buffer.from(text.split(/\r?\n/)[1] ?? '', 'base64')
  if (bytes.byteLength !== SECRET_KEY_BYTES || bytes.toString('latin1', 0, KDF_AT) !== 'Ed') {
    throw new Error(
      `TALLY_SIGNING_KEY_FILE: ${file} is not a secret key of minisign. Make one with \`minisign -G -W\`.`,
    )
  }
  if (bytes.toString('latin1', KDF_AT, KDF_AT + 2) !== '\0\0') {
    throw new Error(
      `TALLY_SIGNING_KEY_FILE: ${file} is protected by a password. Make the release without it, and then sign SHA256SUMS with \`minisign -S\`, which asks for the password.`,
    )
  }
  const id = Buffer.from(bytes.subarray(ID_AT, SEED_AT)).reverse().toString('hex').toUpperCase()
  const publicKey = { id, bytes: bytes.subarray(PUBLIC_AT, CHECKSUM_AT) }
  const d = bytes.subarray(SEED_AT, PUBLIC_AT).toString('base64url')
  const x = publicKey.bytes.toString('base64url')
  const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
  return { publicKey, privateKey }
}

/** Writes `SHA256SUMS.minisig`, and returns its path. */
export async function signChecksums(
  { folder, version, at }: { folder: string; version: string; at: Date },
  { publicKey, privateKey }: SigningKey,
): Promise<string> {
  const path = join(folder, 'SHA256SUMS.minisig')
  const checksums = await Bun.file(join(folder, 'SHA256SUMS')).bytes()
  const text = signatureText(checksums, {
    id: publicKey.id,
    // No time of signing: that would be another one each time.
    comment: `tally ${version}, ${at.toISOString()}`,
    sign: (bytes) => signBytes(null, bytes, privateKey),
  })
  // A file whose secret and public parts belong to different keys would make a signature that nobody can check.
  verifySignature(checksums, text, publicKey)
  await Bun.write(path, text)
  return path
}
