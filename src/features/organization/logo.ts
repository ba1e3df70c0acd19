/** Validates the logo on bills. Pure. */
import { inflateSync } from 'node:zlib'
import { type Issue, refusal } from '../../errors.ts'
import type { LogoType } from '../../schema/fields.ts'
import type { Logo } from './store.ts'

/** Many times what a sharp picture needs in print. It is part of every stored PDF. */
const LOGO_LIMIT_BYTES = 256 * 1_024

/** The maximum of each side in pixels. A small file can decompress to more than the memory holds. */
const SIDE_LIMIT = 2_000

interface Size {
  width: number
  height: number
}

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/**
 * The position of width and height in a PNG: in the first chunk, after the signature and the chunk's length and name.
 */
const PNG_SIZE_AT = 16

/** The name of chunks with pixels. */
const IDAT = 0x49444154

/** JPEG markers of a frame, which contains the size: all of C0 to CF except C4, C8 and CC. */
const FRAME_MARKER = /^c[0-35-79-bd-f]$/

/** Samples of a pixel by the color type of a PNG. */
const PNG_SAMPLES: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** Detects the image type and size from the bytes. Throws `validation_failed`. */
export function readLogo(bytes: Uint8Array): Logo {
  if (bytes.length > LOGO_LIMIT_BYTES) {
    throw refused('too_large', `must be at most ${LOGO_LIMIT_BYTES / 1_024} KiB`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isPng = PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)
  const size = isPng ? pngSize(view) : jpegSize(view)
  if (!size) throw refused('bad_format', 'must be a PNG or JPEG image')
  if (Math.max(size.width, size.height) > SIDE_LIMIT || Math.min(size.width, size.height) < 1) {
    throw refused('too_large', `must be 1 to ${SIDE_LIMIT.toLocaleString('en')} pixels wide and high`)
  }
  if (isPng && !hasPngPixels(view, size)) throw refused('bad_format', 'must be a PNG with as many pixels as it says')
  const type: LogoType = isPng ? 'image/png' : 'image/jpeg'
  return { bytes, type }
}

function pngSize(view: DataView): Size | undefined {
  if (view.byteLength < PNG_SIZE_AT + 8) return undefined
  return { width: view.getUint32(PNG_SIZE_AT), height: view.getUint32(PNG_SIZE_AT + 4) }
}

/** Whether the compressed pixels of a PNG are valid, and no more than its size needs: documents decompress all of them. */
function hasPngPixels(view: DataView, { width, height }: Size): boolean {
  const pixels: Uint8Array[] = []
  for (let at = PNG_SIGNATURE.length; at + 8 <= view.byteLength; ) {
    const [length, name] = [view.getUint32(at), view.getUint32(at + 4)]
    if (at + 8 + length > view.byteLength) return false
    if (name === IDAT) pixels.push(new Uint8Array(view.buffer, view.byteOffset + at + 8, length))
    at += 12 + length
  }
  const [bits, colors] = [view.getUint8(PNG_SIZE_AT + 8), view.getUint8(PNG_SIZE_AT + 9)]
  const rowBytes = 1 + Math.ceil((width * bits * (PNG_SAMPLES[colors] ?? 0)) / 8)
  try {
    // Interlaced, there are up to twice as many rows, which are shorter.
    return inflateSync(Buffer.concat(pixels), { maxOutputLength: 2 * rowBytes * height }).length > 0
  } catch {
    return false
  }
}

/** Skips from marker to marker to the first frame. */
function jpegSize(view: DataView): Size | undefined {
  const end = view.byteLength
  if (end < 4 || view.getUint16(0) !== 0xff_d8) return undefined
  for (let at = 2; at + 9 <= end && view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const isFrame = FRAME_MARKER.test(view.getUint8(at + 1).toString(16))
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
  }
  return undefined
}

function refused(code: Issue['code'], message: string) {
  return refusal('', code, message)
}
