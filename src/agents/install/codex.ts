/**
 * Codex calls one program after each turn, `notify`. A program that is there already is called by Tally's hook then.
 * Intentionally not Codex's hooks: each of those, and each change of one, waits until the person has declared it trusted.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError } from 'smol-toml'
import { type Installer, lineEnd, SettingsError } from './installer.ts'
import { findTopLevel } from './toml-top-level.ts'

/** What follows the executable, and what precedes the program that was there before. */
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
    return proven(settings, text, [...added, ...(others ?? [])])
  },
  withoutHook: (settings) => {
    const notify = readNotify(settings)
    const own = ownWords(notify)
    if (!notify || own === 0) return settings
    const rest = notify.slice(own)
    const text = rest.length > 0 ? withoutFirst(settings, own) : withoutLine(settings)
    return proven(settings, text, rest.length > 0 ? rest : undefined).trim() === '' ? undefined : text
  },
  hasHook: (settings) => ownWords(readNotify(settings)) > 0,
  warnings: () => [],
}

/** The words of `notify`; undefined where there is none. */
function readNotify(settings: string): string[] | undefined {
  const { notify } = readToml(settings)
  if (notify === undefined) return undefined
  if (Array.isArray(notify) && notify.every((word) => typeof word === 'string')) return notify
  throw new SettingsError('has a `notify` that is not a list of strings. Fix it first')
}

function readToml(settings: string): Record<string, unknown> {
  try {
    return parse(settings, { integersAsBigInt: true })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const what = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')
    throw new SettingsError(`is not valid TOML (line ${error.line}, column ${error.column}: ${what}). Fix it first`)
  }
}

/** How many words of `notify` are Tally's. */
function ownWords(notify: string[] = []): number {
  const start = notify.findIndex((_, index) => isDeepStrictEqual(notify.slice(index, index + HOOK.length), HOOK))
  // An executable, or the runtime and the program when it runs from source.
  if (start < 1 || start > 2) return 0
  const end = start + HOOK.length
  return notify[end] === THEN ? end + 1 : end
}

/** A basic string: those of JSON are, but for one character. */
function tomlWord(word: string): string {
  return JSON.stringify(word).replaceAll('\u007f', '\\u007f')
}

function withFirst(settings: string, words: string[]): string {
  const { valueStart } = topLevelNotify(settings)
  const separator = words.at(-1) === THEN ? ', ' : ''
  return settings.slice(0, valueStart + 1) + words.map(tomlWord).join(', ') + separator + settings.slice(valueStart + 1)
}

/** Behind the last of the settings that belong to no table: below a table's name it would belong to that. */
function withLine(settings: string, words: string[]): string {
  const end = lineEnd(settings)
  const line = `notify = [${words.map(tomlWord).join(', ')}]`
  const last = findTopLevel(settings).at(-1)
  if (!last) return line + end + settings
  const newline = settings.indexOf('\n', last.valueEnd)
  if (newline < 0) return `${settings}${end}${line}`
  return `${settings.slice(0, newline + 1)}${line}${end}${settings.slice(newline + 1)}`
}

/** Everything up to the comma behind the last of the words, and one space. */
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

/** The text, where it says what was meant and all else as before. */
function proven(before: string, text: string, notify: string[] | undefined): string {
  const wanted = { ...readToml(before), notify }
  if (!isDeepStrictEqual({ ...readToml(text), notify: readNotify(text) }, wanted)) throw notUnderstood()
  return text
}

function notUnderstood(): SettingsError {
  return new SettingsError(
    'cannot be changed safely. Add `"tally", "agents", "hook", "codex"` to the start of `notify` by hand',
  )
}
