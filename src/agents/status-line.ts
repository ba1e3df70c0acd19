/**
 * `tally agents limits`, as the status line of Claude Code calls it, up to several times a second: it prints a short text,
 * and once in a few minutes keeps the limits and starts a sender, for which nothing waits.
 */
import { join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import type { Limit, NotRead } from './agent.ts'
import { log } from './journal.ts'
import { claudeLimits } from './limits.ts'
import { objectOf, textOf } from './model-calls.ts'
import { readJsonFile, writePrivateFile } from './private-files.ts'
import { stateFolder } from './state-folder.ts'

/** How often limits are sent. */
const SENT_EVERY_MS = 5 * 60_000

const HOUR_MS = 3_600_000
const DAY_MINUTES = 24 * 60

/** What was last passed to the status line. */
export interface StatusLine {
  at: number
  version: string | null
  limits: Limit[]
  notRead: NotRead[]
}

const pathOf = (environment: AgentsEnvironment) => join(stateFolder(environment), 'limits.json')

/** Undefined if nothing was passed within the hour: then it may not be true now. */
export function lastStatusLine(environment: AgentsEnvironment, now: number): StatusLine | undefined {
  const last = readJsonFile<StatusLine>(pathOf(environment))
  const isRecent = typeof last?.at === 'number' && Math.abs(now - last.at) < HOUR_MS
  return isRecent && Array.isArray(last.limits) && Array.isArray(last.notRead) ? last : undefined
}

export interface StatusLineCall {
  environment: AgentsEnvironment
  input: string
  now: number
  /** Starts the sender. */
  send: () => void
}

/** The text of the status line; empty if there is nothing to show. Never throws: errors go to the log. */
export function runStatusLine({ environment, input, now, send }: StatusLineCall): string {
  try {
    const passed: unknown = JSON.parse(input)
    const notRead: NotRead[] = []
    const limits = claudeLimits(passed, now, (_, kind) => {
      if (kind !== 'note') notRead.push({ reason: kind.reason, name: kind.name ?? null, count: 1 })
    })
    if (limits.length + notRead.length > 0) {
      const last = lastStatusLine(environment, now)
      const isDue = !last || last.at > now || now - last.at >= SENT_EVERY_MS
      if (isDue) {
        const version = textOf(objectOf(passed)?.version) || null
        const state: StatusLine = { at: now, version, limits, notRead }
        writePrivateFile(pathOf(environment), JSON.stringify(state))
        send()
      }
    }
    return limits.map((limit) => limitText(limit, now)).join(' · ')
  } catch (error) {
    log(environment, `tally agents limits: ${(error as Error).message}`)
    return ''
  }
}

/** `5h 24% until 14:30`, or with the day if it is another one. */
function limitText({ name, windowMinutes, usedPercent, resetsAt }: Limit, now: number): string {
  const window = windowMinutes % DAY_MINUTES === 0 ? `${windowMinutes / DAY_MINUTES}d` : `${windowMinutes / 60}h`
  const [, model] = /^(?:five_hour|seven_day)_(.+)$/.exec(name) ?? []
  const used = `${window}${model === undefined ? '' : ` ${model}`} ${Math.round(usedPercent)}%`
  if (resetsAt === null || resetsAt <= now) return used
  const end = new Date(resetsAt)
  const day =
    end.toDateString() === new Date(now).toDateString() ? '' : `${end.toLocaleDateString('en', { weekday: 'short' })} `
  const clock = [end.getHours(), end.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
  return `${used} until ${day}${clock}`
}
