/** Checks values against a schema that no route checks. */
import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { Checker } from './issues.ts'

/**
 * Compiles its schema at the first check. To compile those of all features takes longer than the rest of a short command,
 * which checks few values or none.
 */
export class SchemaChecker<Schema extends TSchema> implements Checker {
  #compiled: TypeCheck<Schema> | undefined

  constructor(readonly schema: Schema) {}

  get #check(): TypeCheck<Schema> {
    this.#compiled ??= TypeCompiler.Compile(this.schema)
    return this.#compiled
  }

  Check(value: unknown): value is Static<Schema> {
    return this.#check.Check(value)
  }

  Errors(value: unknown) {
    return this.#check.Errors(value)
  }
}
