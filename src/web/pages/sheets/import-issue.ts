/** Validation issues of an imported file as text. */
import { type Issue, sentence } from '../../server/problem.ts'

const LINE = /^\/lines\/(\d+)\/?(.*)$/

/** The position of `/lines/7/started_at` in the file: `Line 7, started_at: `. */
function placeOf(pointer: string): string {
  const [, line, column] = LINE.exec(pointer) ?? []
  if (line === undefined) return ''
  return `Line ${line}${column ? `, ${column.replaceAll('/', '.')}` : ''}: `
}

/** An issue with its line and column: `Line 7, started_at: must be a date-time.` */
export function importIssue({ pointer, message }: Pick<Issue, 'pointer' | 'message'>): string {
  const place = placeOf(pointer)
  return place === '' ? sentence(message) : `${place}${message}.`
}
