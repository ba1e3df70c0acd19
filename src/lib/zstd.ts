/** More time saves nothing: JSON of reports takes more bytes at the levels 2 to 4, and that of lists hardly fewer. */
export const ZSTD_LEVEL = 1

/** Compresses at once, for a thread that has nothing else to do. */
export function zstd(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL }) as Uint8Array<ArrayBuffer>
}
