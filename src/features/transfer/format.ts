/** The format of exports of everything: docs/export-format.md. */
import { type Static, Type } from '@sinclair/typebox'
import { SchemaChecker } from '../../schema/checker.ts'
import { object, orNull } from '../../schema/types.ts'

export const FORMAT = 'tally-export'

/**
 * Raised if an older Tally could no longer read a file correctly; new types of lines and new fields raise it too,
 * once per release. No release has written version 1 yet.
 */
export const FORMAT_VERSION = 1

/** Longer than any bill's document, and short enough for the memory of a small machine. */
export const LINE_LIMIT_BYTES = 67_108_864

/** The longest piece of a document in a line, before base64. */
export const PIECE_BYTES = 262_144

const Period = object({ from: orNull(Type.Integer()), to: orNull(Type.Integer()) })

/** The first line. */
export const Header = object({
  format: Type.Literal(FORMAT),
  version: Type.Literal(FORMAT_VERSION),
  tally: Type.String(),
  exported_at: Type.String(),
  organization: Type.String(),
  /** Null if the file contains everything. */
  period: orNull(object({ from: orNull(Type.String()), to: orNull(Type.String()) })),
})
export type Header = Static<typeof Header>
export type Period = Static<typeof Period>
export const headerChecker = new SchemaChecker(Header)

/** The last line: without it, the file is truncated. */
export const End = object({
  type: Type.Literal('end'),
  counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  /** Of all bytes before this line, in hexadecimal digits. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})
export type End = Static<typeof End>
export const endChecker = new SchemaChecker(End)
