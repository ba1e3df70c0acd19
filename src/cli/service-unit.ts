/** The systemd unit that runs Tally as a server, as its files say. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnvironmentFile } from '../lib/environment-file.ts'

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

/** Those that a variable may contain, of a service of the system (systemd.unit(5)): `%d` is the folder of its credentials. */
const SPECIFIERS: Record<string, string> = {
  '%': '%',
  d: `/run/credentials/${NAME}`,
  E: '/etc',
  n: NAME,
  S: '/var/lib',
  t: '/run',
}

/** Undefined if no unit of that name runs this executable. */
export const findServiceUnit = (executable: string, folders?: readonly string[]): ServiceUnit | undefined =>
  findUnit(({ programs }) => programs.some((program) => realPath(program) === executable), folders)

/** Undefined if no unit of that name reads this file of variables. */
export const findUnitWith = (environmentFile: string, folders?: readonly string[]): ServiceUnit | undefined =>
  findUnit(({ environmentFiles }) => environmentFiles.includes(environmentFile), folders)

interface UnitSettings {
  programs: string[]
  environmentFiles: string[]
}

function findUnit(
  isMeant: (settings: UnitSettings) => boolean,
  folders: readonly string[] = FOLDERS,
): ServiceUnit | undefined {
  const files = folders.map((folder) => join(folder, NAME))
  const unit = files.map(textOf).find((text) => text !== undefined)
  if (unit === undefined) return undefined
  // Those that `systemctl edit` makes, which replace or add to what the unit sets.
  const changes = folders.toReversed().flatMap((folder) => dropIns(join(folder, `${NAME}.d`)))
  const lines = [unit, ...changes].flatMap((text) => {
    const joined = text.replaceAll(/\\\n/g, ' ')
    return joined.split('\n').map((line) => line.trim())
  })
  const programs = valuesOf(lines, 'ExecStart').map((command) => command.replace(/^[-@:+!]+/, '').split(/\s/)[0]!)
  const environmentFiles = valuesOf(lines, 'EnvironmentFile').map((path) => path.replace(/^-/, ''))
  if (!isMeant({ programs, environmentFiles })) return undefined
  const assignments = valuesOf(lines, 'Environment').flatMap((text) => words(text).flatMap(assignment))
  const fromFiles = environmentFiles.flatMap((path) => Object.entries(parseEnvironmentFile(textOf(path) ?? '')))
  return { name: NAME, environment: Object.fromEntries([...assignments, ...fromFiles]) }
}

/** An empty value removes those before it. */
function valuesOf(lines: readonly string[], name: string): string[] {
  const values = lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1).trim())
  return values.slice(values.lastIndexOf('') + 1)
}

/** `A=1 "B=two words"` */
const words = (text: string) =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...parts]) => parts.find((each) => each !== undefined)!)

function assignment(text: string): [string, string][] {
  const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(text) ?? []
  if (name === undefined) return []
  return [[name, value!.replaceAll(/%(.)/g, (all, letter: string) => SPECIFIERS[letter] ?? all)]]
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
