/**
 * Codex calls one program after each turn, `notify`. If there is one already, Tally's hook calls it. Intentionally not
 * Codex's hooks: each of those, and each change of one, is inactive until the person has declared it trusted.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Installer, lineEnd, SettingsError } from './installer.ts'
import { readToml } from './toml.ts'
import { findTopLevel } from './toml-top-level.ts'

/** The arguments after the executable, and the flag before the program that was configured before. */
const HOOK = ['agents', 'hook', 'codex']
const THEN = '--then'

export const codex: Installer = {
  agent: 'codex',
  pathIn: ({ home, codexHome }) => join(codexHome ?? join(home, '.codex'), 'config.toml'),
  withHook: (settings = '', command) => {
    const notify = readNotify(settings)
    if (isDeepStrictEqual(notify?.slice(0, command.length), command)) return settings
    const without = codex.withoutHook(settings) ?? ''
    const others = readNotify(without)
    const added = others && others.length > 0 ? [...command, THEN] : [...command]
    const text = others ? withFirst(without, added) : withLine(without, added)
    return verified(settings, text, [...added, ...(others ?? [])])
  },
  withoutHook: (settings) => {
    const notify = readNotify(settings)
    const own = ownWords(notify)
    if (!notify || own === 0) return settings
    const rest = notify.slice(own)
    const text = rest.length > 0 ? withoutFirst(settings, own) : withoutLine(settings)
    return verified(settings, text, rest.length > 0 ? rest : undefined).trim() === '' ? undefined : text
  },
  hasHook: (settings) => ownWords(readNotify(settings)) > 0,
  warnings: () => [],
}

/** The words of `notify`; undefined if it is not set. */
function readNotify(settings: string): string[] | undefined {
  const { notify } = readToml(settings)
  if (notify === undefined) return undefined
  if (Array.isArray(notify) && notify.every((word) => typeof word === 'string')) return notify
  throw new SettingsError('has a `notify` that is not a list of strings. Fix it first')
}

/** The number of words of `notify` that belong to Tally. */
function ownWords(notify: string[] = []): number {
  const start = notify.findIndex((_, index) => isDeepStrictEqual(notify.slice(index, index + HOOK.length), HOOK))
  // The executable, or the runtime and the program if it runs from source.
  if (start < 1 || start > 2) return 0
  const end = start + HOOK.length
  return notify[end] === THEN ? end + 1 : end
}

/** A TOML basic string: the same as a JSON string, except for one character. */
function tomlWord(word: string): string {
  return JSON.stringify(word).replaceAll('\u007f', '\\u007f')
}

function withFirst(settings: string, words: string[]): string {
  const { valueStart } = topLevelNotify(settings)
  const separator = words.at(-1) === THEN ? ', ' : ''
  return settings.slice(0, valueStart + 1) + words.map(tomlWord).join(', ') + separator + settings.slice(valueStart + 1)
}

/** Adds the line after the last top-level setting: after a table header it would belong to that table. */
function withLine(settings: string, words: string[]): string {
  const end = lineEnd(settings)
  const line = `notify = [${words.map(tomlWord).join(', ')}]`
  const last = findTopLevel(settings).at(-1)
  if (!last) return line + end + settings
  const newline = settings.indexOf('\n', last.valueEnd)
  if (newline < 0) return `${settings}${end}${line}`
  return `${settings.slice(0, newline + 1)}${line}${end}${settings.slice(newline + 1)}`
}

/** Removes everything up to the comma after the last of the words, and one space. */
function withoutFirst(settings: string, words: number): string {
  const { valueStart } = topLevelNotify(settings)
  const word = /\s*"(?:[^"\\\n]|\\.)*"\s*,/y
  word.lastIndex = valueStart + 1
  for (let count = 0; count < words; count += 1) if (!word.test(settings)) throw notUnderstood()
  const end = settings[word.lastIndex] === ' ' ? word.lastIndex + 1 : word.lastIndex
  return settings.slice(0, valueStart + 1) + settings.slice(end)
}

function withoutLine(settings: string): string {
  const { start, valueEnd } = topLevelNotify(settings)
  const newline = settings.indexOf('\n', valueEnd)
  return settings.slice(0, start) + (newline < 0 ? '' : settings.slice(newline + 1))
}

function topLevelNotify(settings: string) {
  const found = findTopLevel(settings).find(({ key }) => key === 'notify')
  if (!found) throw notUnderstood()
  return found
}

/** Returns the text after checking that only the intended setting has changed. */
function verified(before: string, text: string, notify: string[] | undefined): string {
  const wanted = { ...readToml(before), notify }
  if (!isDeepStrictEqual({ ...readToml(text), notify: readNotify(text) }, wanted)) throw notUnderstood()
  return text
}

function notUnderstood(): SettingsError {
  return new SettingsError(
    'cannot be changed safely. Add `"tally", "agents", "hook", "codex"` to the start of `notify` by hand',
  )
}
