/** The size of a database by the header of its file (https://sqlite.org/fileformat2.html#the_database_header). */

export const HEADER_BYTES = 100

const MAGIC = 'SQLite format 3\0'
const PAGE_SIZE_AT = 16
const PAGES_AT = 28

/** Undefined if the bytes are not the header of a SQLite database. */
export function databaseBytes(header: Uint8Array): number | undefined {
  if (header.byteLength < HEADER_BYTES) return undefined
  if (Buffer.from(header.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC) return undefined
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
  // 65,536 does not fit into two bytes, and is written as 1.
  const stored = view.getUint16(PAGE_SIZE_AT)
  const pageSize = stored === 1 ? 65_536 : stored
  return pageSize * view.getUint32(PAGES_AT)
}
