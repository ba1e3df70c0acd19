/**
 * Hooks in the settings of Claude Code and of Gemini CLI, which have the same shape: `hooks`, below it a list of groups
 * for each event, and in a group a list of hooks. Comments and all that is not Tally's stay as they are, to the byte.
 */
import { isDeepStrictEqual } from 'node:util'
import { applyEdits, type JSONPath, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { AgentName } from '../agent.ts'
import { lineEnd, SettingsFault } from './installer.ts'

interface Hook {
  type: 'command'
  command: string
  [field: string]: unknown
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

interface Found {
  /** Where it stands. */
  path: [string, string, number, string, number]
  hook: Json
  /** Hooks of the same group, itself included. */
  groupSize: number
}

export interface HooksInJson {
  agent: AgentName
  events: readonly string[]
  hookFor(command: string): Hook
}

export function addHooks(settings: string, command: string, { agent, events, hookFor }: HooksInJson): string {
  // An empty file is how some editors leave one that was never filled.
  let text = settings.trim() === '' ? `{}${lineEnd(settings)}` : settings
  for (const event of events) {
    const found = findHooks(readSettings(text), agent).filter(({ path }) => path[1] === event)
    if (found.length > 0) {
      for (const { path, hook } of found) {
        const wanted = { ...(hook as object), ...hookFor(command) }
        if (!isDeepStrictEqual(hook, wanted)) text = changed(text, path, wanted)
      }
      continue
    }
    const groups = groupsOf(readSettings(text), event)
    const group = { hooks: [hookFor(command)] }
    text = groups
      ? changed(text, ['hooks', event, groups.length], group, { isArrayInsertion: true })
      : changed(text, ['hooks', event], [group])
  }
  const missing = events.filter((event) => !findHooks(readSettings(text), agent).some(({ path }) => path[1] === event))
  if (missing.length > 0 || !isSameBeside(agent, settings, text)) throw notUnderstood()
  return text
}

/** Undefined where nothing is left. */
export function removeHooks(settings: string, { agent }: HooksInJson): string | undefined {
  let text = settings
  for (;;) {
    const [found] = findHooks(readSettings(text), agent)
    if (!found) break
    text = changed(text, emptiedBy(readSettings(text), found), undefined)
  }
  if (text === settings) return settings
  if (!isSameBeside(agent, settings, text)) throw notUnderstood()
  return isDeepStrictEqual(readSettings(text), {}) && !/\/[/*]/.test(text) ? undefined : text
}

export function hasHooks(settings: string, { agent, events }: HooksInJson): boolean {
  const found = findHooks(readSettings(settings), agent)
  return events.every((event) => found.some(({ path }) => path[1] === event))
}

/** The settings as values. Throws {@link SettingsFault}. */
export function readSettings(text: string): { [name: string]: Json } {
  if (text.trim() === '') return {}
  const errors: ParseError[] = []
  const settings: Json = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) {
    const before = text.slice(0, first.offset).split('\n')
    throw new SettingsFault(
      `is no valid JSON (line ${before.length}, column ${before.at(-1)!.length + 1}: ${printParseErrorCode(first.error)}); mend it first`,
    )
  }
  if (!isObject(settings)) throw new SettingsFault('holds no JSON object; mend it first')
  return settings
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined where the event has none yet. */
function groupsOf({ hooks = {} }: { [name: string]: Json }, event: string): Json[] | undefined {
  if (!isObject(hooks)) throw new SettingsFault('has `hooks` that are no object; mend it first')
  const groups = hooks[event]
  if (groups === undefined || Array.isArray(groups)) return groups
  throw new SettingsFault(`has \`hooks.${event}\` that is no list; mend it first`)
}

/** Tally's own, whichever executable they call. */
function findHooks(settings: { [name: string]: Json }, agent: AgentName): Found[] {
  const { hooks } = settings
  if (!isObject(hooks)) return []
  return Object.entries(hooks).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((group, index) => {
      const list = isObject(group) && Array.isArray(group.hooks) ? group.hooks : []
      return list.flatMap((hook, position): Found[] =>
        isOwn(hook, agent) ? [{ path: ['hooks', event, index, 'hooks', position], hook, groupSize: list.length }] : [],
      )
    }),
  )
}

function isOwn(hook: Json, agent: AgentName): boolean {
  return isObject(hook) && typeof hook.command === 'string' && hook.command.trimEnd().endsWith(` agents hook ${agent}`)
}

/** The outermost thing that would be empty without the hook. */
function emptiedBy(settings: { [name: string]: Json }, { path, groupSize }: Found): JSONPath {
  const [, event, index] = path
  if (groupSize > 1) return path
  const hooks = settings.hooks as { [name: string]: Json }
  if ((hooks[event] as Json[]).length > 1) return ['hooks', event, index]
  return Object.keys(hooks).length > 1 ? ['hooks', event] : ['hooks']
}

function changed(text: string, path: JSONPath, value: unknown, options: { isArrayInsertion?: boolean } = {}): string {
  const indentation = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const insertSpaces = !indentation.startsWith('\t')
  const formattingOptions = { insertSpaces, tabSize: insertSpaces ? indentation.length : 1, eol: lineEnd(text) }
  return applyEdits(text, modify(text, path, value, { ...options, formattingOptions }))
}

/** Whether both say the same beside Tally's hooks: the proof that a change did no harm. */
function isSameBeside(agent: AgentName, before: string, after: string): boolean {
  return isDeepStrictEqual(beside(agent, readSettings(before)), beside(agent, readSettings(after)))
}

/** Without Tally's hooks, and without what is empty, of which nothing follows. */
function beside(agent: AgentName, settings: { [name: string]: Json }): Json {
  const { hooks, ...rest } = settings
  if (!isObject(hooks)) return settings
  const kept = Object.entries(hooks).flatMap(([event, groups]): [string, Json][] => {
    if (!Array.isArray(groups)) return [[event, groups]]
    const others = groups.flatMap((group) => {
      if (!isObject(group) || !Array.isArray(group.hooks)) return [group]
      const list = group.hooks.filter((hook) => !isOwn(hook, agent))
      return list.length > 0 || group.hooks.length === 0 ? [{ ...group, hooks: list }] : []
    })
    return others.length > 0 ? [[event, others]] : []
  })
  return kept.length > 0 ? { ...rest, hooks: Object.fromEntries(kept) } : rest
}

/** For one, a name that stands in an object twice. */
function notUnderstood(): SettingsFault {
  return new SettingsFault('is written in a way that cannot be changed safely; is a name in it twice?')
}
