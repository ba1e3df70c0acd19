/** What Tally could not read of an agent's sessions. Imports nothing, because the web application loads it too. */

/** Why something was not read, in the singular and the plural of what is counted. */
const REASONS = {
  unknown_session: ['session in a format that Tally does not read', 'sessions in a format that Tally does not read'],
  unknown_file: ['file in a format that Tally does not read', 'files in a format that Tally does not read'],
  unknown_record: [
    'session with records of a type or version that Tally does not know',
    'sessions with records of a type or version that Tally does not know',
  ],
  unknown_count: ['session with a count that Tally does not know', 'sessions with a count that Tally does not know'],
  invalid_record: ['session with damaged or incomplete records', 'sessions with damaged or incomplete records'],
  invalid_count: ['session with a missing or invalid count', 'sessions with a missing or invalid count'],
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

/** `opencode 2.0.3: 14 sessions in a format that Tally does not read (session_v3)` */
export function agentNotReadText(agent: string, version: string | null, notRead: readonly NotRead[]): string {
  return `${agentText(agent, version)}: ${notRead.map(notReadText).join(', ')}`
}

/** `opencode 2.0.3` */
export function agentText(agent: string, version: string | null): string {
  return [agent, version].filter(Boolean).join(' ')
}

/** `14 sessions in a format that Tally does not read (session_v3)` */
export function notReadText({ reason, name, count }: NotRead): string {
  const [one, several] = REASONS[reason]
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}${name === null ? '' : ` (${name})`}`
}
