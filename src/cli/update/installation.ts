/** The installation that is updated: where its executable is, and whether something else manages it. */
import { readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { COMMIT } from '../../embedded/version.ts'
import { CommandError } from '../failures.ts'

/** Written by packages and images, below the prefix of their executable. */
const MARKER = 'share/tally/installed-by'

const FROM_SOURCE = 'This Tally runs from its source code. Update it with `git pull`.'

/** The path of this executable, without symbolic links. Throws if Tally runs from source. */
export function ownExecutable(): string {
  if (COMMIT === 'dev') throw new CommandError(FROM_SOURCE)
  try {
    return realpathSync(process.execPath)
  } catch {
    throw new CommandError(`${process.execPath} is no longer there. Start the executable that replaced it.`)
  }
}

export interface Owner {
  /** What manages the executable. */
  name: string
  /** What to do in place of `tally update`: a whole sentence. */
  instead: string
}

/** What manages an executable, and must be asked to replace it; undefined if nothing does. */
export function ownerOf(executable: string, version: string): Owner | undefined {
  const marker = markerOf(executable)
  if (marker !== undefined) return byMarker(marker, version)
  if (executable.includes('/node_modules/')) {
    return { name: 'npm', instead: `Update it with: npm install --global tally-agents@${version}` }
  }
  if (/\/(Cellar|linuxbrew)\//.test(executable))
    return { name: 'Homebrew', instead: 'Update it with: brew upgrade tally' }
  if (executable.includes('/mise/installs/')) {
    return { name: 'mise', instead: 'Copy the lines of the new release into mise.toml, and run: mise install' }
  }
  if (executable.startsWith('/nix/store/')) return { name: 'Nix', instead: 'Update it in the configuration of Nix.' }
  return undefined
}

/** How to install a newer version here: a whole sentence. */
export function howToUpdate(version: string): string {
  if (COMMIT === 'dev') return FROM_SOURCE
  return ownerOf(ownExecutable(), version)?.instead ?? 'Update with the same command without --check.'
}

function byMarker(marker: string, version: string): Owner {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  switch (marker) {
    case 'deb':
      return {
        name: 'a Debian package',
        instead: `Update it with: sudo apt install ./tally_${version}_${architecture}.deb`,
      }
    case 'rpm':
      return {
        name: 'an RPM package',
        instead: `Update it with: sudo dnf install ./tally-${version.replaceAll('-', '~')}-1.${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.rpm`,
      }
    case 'container':
      return {
        name: 'a container image',
        instead: `Start a container of the image of version ${version} with the same volume instead.`,
      }
    default:
      return { name: `the package manager of '${marker}'`, instead: 'Update it with that.' }
  }
}

/** Undefined if the executable was put there by hand or by `install.sh`. */
function markerOf(executable: string): string | undefined {
  const folder = dirname(executable)
  if (basename(folder) !== 'bin') return undefined
  try {
    return readFileSync(join(dirname(folder), MARKER), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
