/** Prefixes of public ids. The rest of an id is a UUIDv7 in 32 hexadecimal digits, so ids sort by creation time. */
export type IdPrefix =
  | 'ent'
  | 'prj'
  | 'tkt'
  | 'cli'
  | 'rul'
  | 'rpr'
  | 'usr'
  | 'tok'
  | 'sht'
  | 'bil'
  | 'bdr'
  | 'prc'
  | 'pld'
  | 'dep'
  | 'shr'
  | 'rvw'
  | 'bdg'
  | 'alr'
  | 'whk'
  | 'pln'
  | 'frl'
  | 'fnd'
  | 'tru'

export type Id<P extends IdPrefix = IdPrefix> = `${P}_${string}`

export function newId<P extends IdPrefix>(prefix: P): Id<P> {
  return `${prefix}_${Bun.randomUUIDv7('buffer').toHex()}`
}

const HEX_32 = /^[0-9a-f]{32}$/
const NO_BYTES = new Uint8Array()

/** Whether a text from outside is an id with this prefix. Only such a text may be used in a query. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return text.startsWith(`${prefix}_`) && HEX_32.test(text.slice(prefix.length + 1))
}

/** The 16 bytes of an id that the database stores; of a text that is none, such as an e-mail address, bytes that no row has. */
export function idBytes(id: string): Uint8Array {
  const digits = id.slice(id.indexOf('_') + 1)
  return HEX_32.test(digits) ? Uint8Array.fromHex(digits) : NO_BYTES
}

export function idFromBytes<P extends IdPrefix>(prefix: P, bytes: Uint8Array): Id<P> {
  return `${prefix}_${bytes.toHex()}`
}
