/** Kimi Code has its hooks in tables of its settings, which are appended at the end and removed as text. */
import { join } from 'node:path'
import { type Installer, lineEnd, SettingsError } from './installer.ts'
import { shellText } from './shell.ts'
import { readToml } from './toml.ts'

/** After each turn, whatever its outcome, after a summary, and at the end. */
const EVENTS = ['Stop', 'StopFailure', 'Interrupt', 'PostCompact', 'SessionEnd']

/** In the command of a hook, whichever executable it calls. */
const HOOK = /\bagents hook kimi-code\b/

export const kimiCode: Installer = {
  agent: 'kimi-code',
  pathIn: ({ home, kimiHome }) => join(kimiHome ?? join(home, '.kimi-code'), 'config.toml'),
  withHook: (settings = '', command) => {
    const text = shellText(command)
    const own = ownCommands(settings)
    if (own.length === EVENTS.length && own.every((each) => each === text)) return settings
    const without = kimiCode.withoutHook(settings) ?? ''
    if (readToml(without).hooks !== undefined && !/^\[\[hooks\]\]/m.test(without)) {
      throw new SettingsError('has `hooks` in one line. Write them as [[hooks]] tables first')
    }
    const end = lineEnd(settings)
    const tables = EVENTS.map((event) => [
      '[[hooks]]',
      `event = "${event}"`,
      `command = ${JSON.stringify(text)}`,
      'timeout = 10',
      '',
    ])
    const gap = without === '' || without.endsWith('\n') ? '' : end
    return `${without}${gap}${tables.flat().join(end)}`
  },
  withoutHook: (settings) => {
    const text = settings.replaceAll(TABLE, (table) => (HOOK.test(table) ? '' : table))
    if (ownCommands(text).length > 0) {
      throw new SettingsError('has the hook in a place that Tally cannot change. Remove it first')
    }
    return text.trim() === '' && text !== settings ? undefined : text
  },
  hasHook: (settings) => ownCommands(settings).length > 0,
  warnings: () => [],
}

/** Its header and the fields that follow, but no comment, which may be about the next table. */
const TABLE = /^\[\[hooks\]\][ \t]*\r?\n(?:[ \t]*\w+[ \t]*=.*(?:\r?\n|$))*/gm

function ownCommands(settings: string): string[] {
  const { hooks } = readToml(settings)
  const commands = Array.isArray(hooks) ? hooks.map((hook) => String(hook?.command)) : []
  return commands.filter((command) => HOOK.test(command))
}
