/**
 * One column of a segment: exact integers or nulls, packed into as few bytes per value as the range of the values needs.
 * Pure.
 *
 * A column is a header of 32 bytes and the values, both little-endian:
 *
 * | offset | type | |
 * | --- | --- | --- |
 * | 0 | u8 | encoding: 0 constant, 1 to 6 bytes per value, 7 doubles, 8 integers of 128 bits |
 * | 1 | u8 | 1 if there are nulls |
 * | 4 | u32 | number of values |
 * | 8 | f64 | smallest value; NaN if all are null |
 * | 16 | f64 | largest value |
 * | 24 | f64 | upper bound of the sum of the absolute values |
 *
 * With 1 to 6 bytes, a value is stored as the difference to the smallest one, plus 1 if there are nulls, which are 0. The
 * bytes of a value are split into planes (all 4-byte parts first, then all 2-byte parts, then all 1-byte parts), so that
 * each plane is a typed array.
 */

/** Integers or nulls (NaN). Those that doubles do not represent exactly are in `beyond`, by index, and 0 in `values`. */
export interface Integers {
  values: Float64Array
  beyond?: ReadonlyMap<number, bigint> | undefined
}

/** A packed column, unpacked where needed. */
export interface Column {
  readonly length: number
  /** The value of all rows, if they are the same: an integer, or NaN for null. */
  readonly constant: number | undefined
  readonly hasNulls: boolean
  /** Undefined if all values are null. */
  readonly range: { min: number; max: number } | undefined
  /** Not less than the sum of the absolute values. */
  readonly bound: number
  /** Of all rows, or of those with these indices. */
  integers(rows?: Int32Array): Integers
  /** Keys: small integers, with -1 for null. */
  keys(rows?: Int32Array): Int32Array
}

const HEADER_BYTES = 32

const CONSTANT = 0
const DOUBLES = 7
const BIG = 8

/** The upper half of a null among integers of 128 bits. No sum of 64-bit integers reaches it. */
const BIG_NULL = -(2n ** 63n)

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1
if (!IS_LITTLE_ENDIAN) throw new Error('Tally runs only on little-endian processors.')

export function packColumn({ values, beyond }: Integers): Uint8Array {
  const { length } = values
  if (beyond && beyond.size > 0) return packBig(values, beyond)
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let nulls = 0
  let bound = 0
  for (let at = 0; at < length; at += 1) {
    const value = values[at]!
    if (Number.isNaN(value)) {
      nulls += 1
      continue
    }
    if (value < min) min = value
    if (value > max) max = value
    bound += value < 0 ? -value : value
  }
  if (nulls === length)
    return withHeader({ encoding: CONSTANT, nulls, length, min: Number.NaN, max: Number.NaN, bound }, 0)
  if (nulls === 0 && min === max) return withHeader({ encoding: CONSTANT, nulls, length, min, max, bound }, 0)
  const shift = nulls > 0 ? 1 : 0
  const range = max - min + shift
  const width = range < 2 ** 48 ? Math.max(1, Math.ceil(Math.log2(range + 1) / 8)) : DOUBLES
  const packed = withHeader(
    { encoding: width, nulls, length, min, max, bound },
    (width === DOUBLES ? 8 : width) * length,
  )
  if (width === DOUBLES) {
    new Float64Array(packed.buffer, HEADER_BYTES, length).set(values)
    return packed
  }
  const base = min - shift
  const planes = planesOf(packed, width, length)
  let factor = 1
  for (const plane of planes) {
    const bytes = plane.BYTES_PER_ELEMENT as keyof typeof SET_PLANE
    SET_PLANE[bytes](plane as never, values, base, factor)
    factor *= 2 ** (8 * bytes)
  }
  return packed
}

function packBig(values: Float64Array, beyond: ReadonlyMap<number, bigint>): Uint8Array {
  const { length } = values
  let [min, max, bound, nulls] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0]
  const packed = withHeader({ encoding: BIG, nulls: 0, length, min: 0, max: 0, bound: 0 }, 16 * length)
  const [low, high] = bigPlanes(packed, length)
  for (let at = 0; at < length; at += 1) {
    const value = values[at]!
    if (Number.isNaN(value)) {
      high[at] = BIG_NULL
      nulls += 1
      continue
    }
    const exact = beyond.get(at) ?? BigInt(value)
    low[at] = exact
    high[at] = exact >> 64n
    const rough = Number(exact)
    min = Math.min(min, rough)
    max = Math.max(max, rough)
    bound += Math.abs(rough)
  }
  writeHeader(packed, { encoding: BIG, nulls, length, min, max, bound })
  return packed
}

interface Header {
  encoding: number
  nulls: number
  length: number
  min: number
  max: number
  bound: number
}

function withHeader(header: Header, bytes: number): Uint8Array {
  const packed = new Uint8Array(HEADER_BYTES + bytes)
  writeHeader(packed, header)
  return packed
}

/** Each addition of doubles rounds by at most a 2^53th. */
const ROUNDING = 1 + 2 ** -20

function writeHeader(packed: Uint8Array, { encoding, nulls, length, min, max, bound }: Header): void {
  const header = new DataView(packed.buffer)
  header.setUint8(0, encoding)
  header.setUint8(1, nulls > 0 ? 1 : 0)
  header.setUint32(4, length, true)
  header.setFloat64(8, min, true)
  header.setFloat64(16, max, true)
  header.setFloat64(24, bound < 2 ** 52 ? bound : bound * ROUNDING, true)
}

type Plane = Uint8Array | Uint16Array | Uint32Array

/** The planes of a column, the least significant one first. */
function planesOf(packed: Uint8Array, width: number, length: number): Plane[] {
  const planes: Plane[] = []
  let at = packed.byteOffset + HEADER_BYTES
  const take = (of: typeof Uint8Array | typeof Uint16Array | typeof Uint32Array) => {
    planes.push(new of(packed.buffer as ArrayBuffer, at, length))
    at += of.BYTES_PER_ELEMENT * length
  }
  if (width & 4) take(Uint32Array)
  if (width & 2) take(Uint16Array)
  if (width & 1) take(Uint8Array)
  return planes
}

/** Typed arrays need aligned bytes. */
function aligned(data: Uint8Array): Uint8Array {
  return data.byteOffset % 8 === 0 ? data : data.slice()
}

/** Reads a packed column. */
export function readColumn(data: Uint8Array): Column {
  const packed = aligned(data)
  const header = new DataView(packed.buffer, packed.byteOffset, HEADER_BYTES)
  const encoding = header.getUint8(0)
  const length = header.getUint32(4, true)
  const min = header.getFloat64(8, true)
  const max = header.getFloat64(16, true)
  const shift = header.getUint8(1)
  const base = min - shift
  const offset = packed.byteOffset + HEADER_BYTES
  return {
    length,
    constant: encoding === CONSTANT ? min : undefined,
    hasNulls: shift > 0,
    range: Number.isNaN(min) ? undefined : { min, max },
    bound: header.getFloat64(24, true),
    integers(rows) {
      if (encoding === CONSTANT) return { values: new Float64Array(rows?.length ?? length).fill(min) }
      if (encoding === DOUBLES) {
        const values = new Float64Array(packed.buffer as ArrayBuffer, offset, length)
        return { values: rows ? CHOOSE_IN_PLANE[8](values, rows) : values }
      }
      if (encoding === BIG) return unpackBig(packed, length, rows)
      const values = valuesOf(planesOf(packed, encoding, length), base, rows)
      if (shift > 0) replace(values, base, Number.NaN)
      return { values }
    },
    keys(rows) {
      if (encoding === CONSTANT) return new Int32Array(rows?.length ?? length).fill(Number.isNaN(min) ? -1 : min)
      if (encoding >= DOUBLES) throw new Error('A column of amounts has no keys.')
      const values = valuesOf(planesOf(packed, encoding, length), base, rows)
      if (shift > 0) replace(values, base, -1)
      return new Int32Array(values)
    },
  }
}

/*
 * Functions for each type of plane: one for all of them would be compiled for none, and be many times slower.
 */

/** Sets a plane. A typed array keeps the lowest bits of what is assigned, and 0 of NaN. */
const SET_PLANE = {
  1(plane: Uint8Array, values: Float64Array, base: number, factor: number): void {
    for (let at = 0; at < plane.length; at += 1) plane[at] = Math.floor((values[at]! - base) / factor)
  },
  2(plane: Uint16Array, values: Float64Array, base: number, factor: number): void {
    for (let at = 0; at < plane.length; at += 1) plane[at] = Math.floor((values[at]! - base) / factor)
  },
  4(plane: Uint32Array, values: Float64Array, base: number, factor: number): void {
    for (let at = 0; at < plane.length; at += 1) plane[at] = Math.floor((values[at]! - base) / factor)
  },
}

/** Sets the values of a plane, the least significant one. */
const READ_PLANE = {
  1(plane: Uint8Array, values: Float64Array, base: number): void {
    for (let at = 0; at < values.length; at += 1) values[at] = plane[at]! + base
  },
  2(plane: Uint16Array, values: Float64Array, base: number): void {
    for (let at = 0; at < values.length; at += 1) values[at] = plane[at]! + base
  },
  4(plane: Uint32Array, values: Float64Array, base: number): void {
    for (let at = 0; at < values.length; at += 1) values[at] = plane[at]! + base
  },
}

/** Adds a more significant plane. */
const ADD_PLANE = {
  1(plane: Uint8Array, values: Float64Array, factor: number): void {
    for (let at = 0; at < values.length; at += 1) values[at]! += plane[at]! * factor
  },
  2(plane: Uint16Array, values: Float64Array, factor: number): void {
    for (let at = 0; at < values.length; at += 1) values[at]! += plane[at]! * factor
  },
  4(plane: Uint32Array, values: Float64Array, factor: number): void {
    for (let at = 0; at < values.length; at += 1) values[at]! += plane[at]! * factor
  },
}

/** The values of some rows: everything that follows then is of these alone. */
const CHOOSE_IN_PLANE = {
  1(plane: Uint8Array, rows: Int32Array): Plane {
    const chosen = new Uint8Array(rows.length)
    for (let at = 0; at < rows.length; at += 1) chosen[at] = plane[rows[at]!]!
    return chosen
  },
  2(plane: Uint16Array, rows: Int32Array): Plane {
    const chosen = new Uint16Array(rows.length)
    for (let at = 0; at < rows.length; at += 1) chosen[at] = plane[rows[at]!]!
    return chosen
  },
  4(plane: Uint32Array, rows: Int32Array): Plane {
    const chosen = new Uint32Array(rows.length)
    for (let at = 0; at < rows.length; at += 1) chosen[at] = plane[rows[at]!]!
    return chosen
  },
  8(plane: Float64Array, rows: Int32Array): Float64Array {
    const chosen = new Float64Array(rows.length)
    for (let at = 0; at < rows.length; at += 1) chosen[at] = plane[rows[at]!]!
    return chosen
  },
}

function valuesOf(planes: readonly Plane[], base: number, rows: Int32Array | undefined): Float64Array {
  const values = new Float64Array(rows?.length ?? planes[0]!.length)
  let factor = 1
  for (const whole of planes) {
    const bytes = whole.BYTES_PER_ELEMENT as keyof typeof ADD_PLANE
    const plane = rows ? CHOOSE_IN_PLANE[bytes](whole as never, rows) : whole
    if (factor === 1) READ_PLANE[bytes](plane as never, values, base)
    else ADD_PLANE[bytes](plane as never, values, factor)
    factor *= 2 ** (8 * bytes)
  }
  return values
}

function replace(values: Float64Array, from: number, to: number): void {
  for (let at = 0; at < values.length; at += 1) if (values[at] === from) values[at] = to
}

/** The lower and upper halves of integers of 128 bits. Typed arrays keep the lowest 64 bits of what is assigned. */
function bigPlanes(packed: Uint8Array, length: number): [BigUint64Array, BigInt64Array] {
  const at = packed.byteOffset + HEADER_BYTES
  const buffer = packed.buffer as ArrayBuffer
  return [new BigUint64Array(buffer, at, length), new BigInt64Array(buffer, at + 8 * length, length)]
}

function unpackBig(packed: Uint8Array, length: number, rows: Int32Array | undefined): Integers {
  const values = new Float64Array(rows?.length ?? length)
  const beyond = new Map<number, bigint>()
  const [low, high] = bigPlanes(packed, length)
  for (let at = 0; at < values.length; at += 1) {
    const row = rows ? rows[at]! : at
    const exact = (high[row]! << 64n) + low[row]!
    if (high[row] === BIG_NULL) values[at] = Number.NaN
    else if (isExactDouble(exact)) values[at] = Number(exact)
    else beyond.set(at, exact)
  }
  return { values, beyond }
}

export function isExactDouble(value: bigint): boolean {
  return value <= MAX_SAFE && value >= -MAX_SAFE
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Packed columns by their numbers. */
export interface NumberedColumn {
  number: number
  data: Uint8Array
}

/**
 * Columns in one piece: their count, the number, offset and length of each, as integers of 4 bytes, and the columns, each
 * at a multiple of 8 bytes.
 */
export function packTogether(columns: readonly NumberedColumn[]): Uint8Array {
  const start = roundedUp(4 * (1 + 3 * columns.length))
  const bytes = columns.reduce((sum, { data }) => sum + roundedUp(data.byteLength), 0)
  const packed = new Uint8Array(start + bytes)
  const directory = new Uint32Array(packed.buffer, 0, 1 + 3 * columns.length)
  directory[0] = columns.length
  let offset = start
  for (const [at, { number, data }] of columns.entries()) {
    directory.set([number, offset, data.byteLength], 1 + 3 * at)
    packed.set(data, offset)
    offset += roundedUp(data.byteLength)
  }
  return packed
}

/** The columns of {@link packTogether} that are wanted. */
export function unpackTogether(data: Uint8Array, isWanted = (_number: number) => true): NumberedColumn[] {
  const packed = aligned(data)
  const [count] = new Uint32Array(packed.buffer as ArrayBuffer, packed.byteOffset, 1)
  const directory = new Uint32Array(packed.buffer as ArrayBuffer, packed.byteOffset + 4, 3 * count!)
  const columns: NumberedColumn[] = []
  for (let at = 0; at < directory.length; at += 3) {
    const number = directory[at]!
    const offset = directory[at + 1]!
    if (isWanted(number)) columns.push({ number, data: packed.subarray(offset, offset + directory[at + 2]!) })
  }
  return columns
}

function roundedUp(bytes: number): number {
  return Math.ceil(bytes / 8) * 8
}

/** Integers of a column that is being collected. Null is NaN. */
export class Collector {
  #values = new Float64Array(1_024)
  #length = 0
  readonly #beyond = new Map<number, bigint>()

  get length(): number {
    return this.#length
  }

  add(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Float64Array(2 * this.#length)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.#length] = value
    this.#length += 1
  }

  addExact(value: bigint): void {
    const isExact = isExactDouble(value)
    if (!isExact) this.#beyond.set(this.#length, value)
    this.add(isExact ? Number(value) : 0)
  }

  integers(): Integers {
    return { values: this.#values.subarray(0, this.#length), beyond: this.#beyond }
  }
}
