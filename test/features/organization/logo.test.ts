import { expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { readLogo } from '../../../src/features/organization/logo.ts'
import { PNG } from '../../support/picture.ts'

/** The head of a JPEG of this size: a segment of an application, a quantization table, the frame. */
function jpeg(width: number, height: number): Uint8Array {
  const uint16 = (number: number) => [number >> 8, number & 255]
  return Uint8Array.from([
    ...[0xff, 0xd8, 0xff, 0xe0, 0x00, 0x04, 0x4a, 0x46, 0xff, 0xdb, 0x00, 0x03, 0x00],
    ...[0xff, 0xc2, 0x00, 0x0b, 0x08, ...uint16(height), ...uint16(width), 0x01, 0x01, 0x11, 0x00],
  ])
}

test('a picture is a PNG or a JPEG by what it holds', () => {
  expect(readLogo(PNG).type).toBe('image/png')
  expect(readLogo(jpeg(640, 200)).type).toBe('image/jpeg')
})

/** The picture with other compressed pixels. */
function withPixels(pixels: Uint8Array): Uint8Array {
  const at = Buffer.from(PNG).indexOf('IDAT') - 4
  const length = Buffer.alloc(4)
  length.writeUInt32BE(pixels.length)
  return Buffer.concat([PNG.subarray(0, at), length, Buffer.from('IDAT'), pixels, Buffer.alloc(4)])
}

test.each([
  ['nothing', new Uint8Array()],
  ['a text', Buffer.from('GIF89a, says the text')],
  ['half a head', PNG.subarray(0, 20)],
  ['a PNG whose pixels are not compressed', withPixels(Buffer.from('pixels'))],
  ['a PNG of one pixel that expands to 200 MB', withPixels(deflateSync(Buffer.alloc(200_000_000)))],
  ['a JPEG without a frame', jpeg(1, 1).subarray(0, 13)],
  ['a JPEG that ends in a marker', jpeg(1, 1).subarray(0, 15)],
  ['too wide a picture', jpeg(2001, 10)],
  ['a picture without height', jpeg(10, 0)],
  ['more bytes than 256 KiB', new Uint8Array(262_145)],
])('%s is none', (_, bytes) => {
  expect(() => readLogo(bytes)).toThrow(expect.objectContaining({ code: 'validation_failed' }))
})
