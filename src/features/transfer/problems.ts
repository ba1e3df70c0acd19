/** Errors in files. They name the line, and what to do. */
import { Problem } from '../../errors.ts'

/** A line that cannot be imported. */
export function wrongLine(number: number, message: string): Problem {
  return new Problem('validation_failed', `Line ${number}: ${message}`)
}

export function wrongFile(message: string): Problem {
  return new Problem('validation_failed', message)
}
