import { deflateSync } from 'node:zlib'

/** A real picture: a PNG of one pixel. */
export const PNG: Uint8Array<ArrayBuffer> = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
)

/** A grey PNG of this width and one row, without the checksums of its chunks, which nothing reads. */
export function pngOf(width: number): Uint8Array<ArrayBuffer> {
  const chunk = (name: string, content: Uint8Array) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(content.length)
    return Buffer.concat([length, Buffer.from(name), content, Buffer.alloc(4)])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(1, 4)
  head.writeUInt8(8, 8)
  const pixels = deflateSync(Buffer.alloc(1 + width))
  const chunks = [chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]
  return Uint8Array.from(Buffer.concat([PNG.subarray(0, 8), ...chunks]))
}
