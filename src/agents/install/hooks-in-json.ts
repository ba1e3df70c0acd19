/**
 * Hooks in the settings of Claude Code and of Gemini CLI, which have the same shape: `hooks` contains a list of groups
 * for each event, and a group contains a list of hooks. Comments and everything that is not Tally's stay the same, byte
 * for byte.
 */
import { isDeepStrictEqual } from 'node:util'
import { type JSONPath, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { AgentName } from '../agent.ts'
import { lineEnd, SettingsError } from './installer.ts'
import { hasComments, notUnderstood, withAdded, withRemoved, withReplaced } from './json-text.ts'

interface Hook {
  type: 'command'
  command: string
  [field: string]: unknown
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

interface Found {
  /** Path of the hook in the settings. */
  path: [string, string, number, string, number]
  hook: Json
  /** Number of hooks in the same group, including this one. */
  groupSize: number
}

export interface HooksInJson {
  agent: AgentName
  events: readonly string[]
  hookFor(command: string): Hook
}

export function addHooks(settings: string, command: string, { agent, events, hookFor }: HooksInJson): string {
  // Some editors leave an empty file for settings that were never filled in.
  let text = settings.trim() === '' ? `{}${lineEnd(settings)}` : settings
  for (const event of events) {
    const found = findHooks(readSettings(text), agent).filter(({ path }) => path[1] === event)
    for (const { path } of found) text = withFields(text, path, hookFor(command))
    if (found.length === 0) text = withGroup(text, event, { hooks: [hookFor(command)] })
  }
  const missing = events.filter((event) => !findHooks(readSettings(text), agent).some(({ path }) => path[1] === event))
  if (missing.length > 0 || !isSameOtherwise(agent, settings, text)) throw notUnderstood()
  return text
}

/** Sets the fields that Tally's hook needs; fields that a person added stay. */
function withFields(settings: string, path: Found['path'], fields: Hook): string {
  let text = settings
  for (const [name, value] of Object.entries(fields)) {
    const hook = findAt(readSettings(text), path)
    if (!(name in hook)) text = withAdded(text, path, value, name)
    else if (hook[name] !== value) text = withReplaced(text, [...path, name], value)
  }
  return text
}

function findAt(settings: Json, path: JSONPath): { [name: string]: Json } {
  return path.reduce((value: unknown, key) => (value as { [key: string | number]: Json })[key], settings) as {
    [name: string]: Json
  }
}

function withGroup(text: string, event: string, group: unknown): string {
  const settings = readSettings(text)
  if (groupsOf(settings, event)) return withAdded(text, ['hooks', event], group)
  return settings.hooks === undefined
    ? withAdded(text, [], { [event]: [group] }, 'hooks')
    : withAdded(text, ['hooks'], [group], event)
}

/** Undefined if nothing is left. */
export function removeHooks(settings: string, { agent }: HooksInJson): string | undefined {
  let text = settings
  for (;;) {
    const [found] = findHooks(readSettings(text), agent)
    if (!found) break
    text = withRemoved(text, emptiedBy(text, found))
  }
  if (text === settings) return settings
  if (!isSameOtherwise(agent, settings, text)) throw notUnderstood()
  return isDeepStrictEqual(readSettings(text), {}) && !/\/[/*]/.test(text) ? undefined : text
}

export function hasHooks(settings: string, { agent, events }: HooksInJson): boolean {
  const found = findHooks(readSettings(settings), agent)
  return events.every((event) => found.some(({ path }) => path[1] === event))
}

/** The settings as values. Throws {@link SettingsError}. */
export function readSettings(text: string): { [name: string]: Json } {
  if (text.trim() === '') return {}
  const errors: ParseError[] = []
  const settings: Json = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) {
    const before = text.slice(0, first.offset).split('\n')
    throw new SettingsError(
      `is not valid JSON (line ${before.length}, column ${before.at(-1)!.length + 1}: ${printParseErrorCode(first.error)}). Fix it first`,
    )
  }
  if (!isObject(settings)) throw new SettingsError('does not contain a JSON object. Fix it first')
  return settings
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined if the event has no groups yet. */
function groupsOf({ hooks = {} }: { [name: string]: Json }, event: string): Json[] | undefined {
  if (!isObject(hooks)) throw new SettingsError('has a `hooks` that is not an object. Fix it first')
  const groups = hooks[event]
  if (groups === undefined || Array.isArray(groups)) return groups
  throw new SettingsError(`has a \`hooks.${event}\` that is not a list. Fix it first`)
}

/** Tally's own hooks, whichever executable they call. */
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

/** The outermost value that would be empty without the hook and contains no comments. */
function emptiedBy(text: string, { path, groupSize }: Found): JSONPath {
  const [, event, index] = path
  const { hooks } = readSettings(text) as { hooks: { [name: string]: Json[] } }
  const isAlone = [Object.keys(hooks).length === 1, hooks[event]!.length === 1, groupSize === 1]
  const outermost: JSONPath[] = [['hooks'], ['hooks', event], ['hooks', event, index]]
  const fits = (place: JSONPath, position: number) =>
    isAlone.slice(position).every(Boolean) && !hasComments(text, place)
  return outermost.find(fits) ?? path
}

/** Whether the two are the same apart from Tally's hooks: the check that a change did no damage. */
function isSameOtherwise(agent: AgentName, before: string, after: string): boolean {
  return isDeepStrictEqual(withoutOwnHooks(agent, readSettings(before)), withoutOwnHooks(agent, readSettings(after)))
}

/** The settings without Tally's hooks, and without the empty groups and events that remain. */
function withoutOwnHooks(agent: AgentName, settings: { [name: string]: Json }): Json {
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
