/**
 * A browser in which a person signed in before: its cookie lets them continue to sign in there while strangers try
 * passwords for their account. Nothing is stored for it: the cookie is signed with the hash of the password, which only
 * the database contains, so that a new password invalidates all earlier cookies.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomBase62 } from '../../../lib/base62.ts'

/** The length of a device's name, under which its own failures are counted. */
const NAME_CHARACTERS = 16

export interface DeviceOwner {
  uid: string
  passwordHash: string | null
}

function signatureOf({ uid, passwordHash }: DeviceOwner, name: string): Buffer {
  return createHmac('sha256', passwordHash ?? '')
    .update(`tally device ${uid} ${name}`)
    .digest()
}

/** The cookie value of a new device. */
export function newDevice(owner: DeviceOwner): string {
  const name = randomBase62(NAME_CHARACTERS)
  return `${name}.${signatureOf(owner, name).toString('base64url')}`
}

/** The name of the device if the cookie belongs to this person; takes the same time for an unknown person. */
export function readDevice(cookie: string | undefined, owner: DeviceOwner | undefined): string | undefined {
  if (cookie === undefined) return undefined
  const [name = '', sent = ''] = cookie.split('.', 2)
  const expected = signatureOf(owner ?? { uid: '', passwordHash: null }, name)
  const signature = Buffer.from(sent, 'base64url')
  const isEqual = signature.length === expected.length && timingSafeEqual(signature, expected)
  return isEqual && owner?.passwordHash ? name : undefined
}
