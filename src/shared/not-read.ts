/** What Tally could not read of an agent's sessions. Imports nothing, because the web application loads it too. */

/** Why something was not read, in the singular and the plural of what is counted. */
const REASONS = {
  unknown_session: ['session in a format that Tally does not read', 'sessions in a format that Tally does not read'],
  unknown_file: ['file in a format that Tally does not read', 'files in a format that Tally does not read'],
  unknown_record: ['record of a type that Tally does not know', 'records of a type that Tally does not know'],
  unknown_count: [
    'record with a token count that Tally does not know',
    'records with a token count that Tally does not know',
  ],
  invalid_record: ['damaged or incomplete record', 'damaged or incomplete records'],
  invalid_count: ['record with an invalid token count', 'records with an invalid token count'],
  unreadable_file: ['file or folder that cannot be opened', 'files or folders that cannot be opened'],
} as const

export type NotReadReason = keyof typeof REASONS
export const NOT_READ_REASONS = Object.keys(REASONS) as NotReadReason[]

export interface NotRead {
  reason: NotReadReason
  /** Of the format, the type or the count; null if it has none. */
  name: string | null
  count: number
}

/** `14 sessions in a format that Tally does not read (session_v3)` */
export function notReadText({ reason, name, count }: NotRead): string {
  const [one, several] = REASONS[reason]
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}${name === null ? '' : ` (${name})`}`
}
