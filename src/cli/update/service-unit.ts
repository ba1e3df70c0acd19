/** The systemd unit that runs an executable as a server, as its files say. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

export interface ServiceUnit {
  name: string
  /** What the unit sets, and what the files that it names do. */
  environment: Record<string, string>
}

const NAME = 'tally.service'

/** In the order in which systemd looks for units. */
const FOLDERS = [
  '/etc/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
]

/** Undefined if no unit of that name runs this executable. */
export function findServiceUnit(executable: string, folders: readonly string[] = FOLDERS): ServiceUnit | undefined {
  const files = folders.map((folder) => join(folder, NAME))
  const unit = files.map(textOf).find((text) => text !== undefined)
  if (unit === undefined) return undefined
  // Those that `systemctl edit` makes, which replace or add to what the unit sets.
  const changes = folders.toReversed().flatMap((folder) => dropIns(join(folder, `${NAME}.d`)))
  const lines = [unit, ...changes].flatMap((text) => text.split('\n').map((line) => line.trim()))
  const programs = valuesOf(lines, 'ExecStart').map((command) => command.replace(/^[-@:+!]+/, '').split(/\s/)[0]!)
  if (!programs.some((program) => realPath(program) === executable)) return undefined
  const fromFiles = valuesOf(lines, 'EnvironmentFile').flatMap(
    (path) => textOf(path.replace(/^-/, ''))?.split('\n') ?? [],
  )
  const assignments = [...valuesOf(lines, 'Environment').flatMap(words), ...fromFiles.map(unquotedValue)]
  return { name: NAME, environment: Object.fromEntries(assignments.flatMap(assignment)) }
}

const valuesOf = (lines: readonly string[], name: string) =>
  lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1).trim())

/** `A=1 "B=two words"` */
const words = (text: string) =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...parts]) => parts.find((each) => each !== undefined)!)

const unquotedValue = (line: string) => line.trim().replace(/^(\w+)=(["'])(.*)\2$/, '$1=$3')

function assignment(text: string): [string, string][] {
  const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(text) ?? []
  return name === undefined ? [] : [[name, value!]]
}

/** Undefined if it is not there, or may not be read. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function dropIns(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.conf'))
    return names.sort().flatMap((name) => textOf(join(folder, name)) ?? [])
  } catch {
    return []
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
