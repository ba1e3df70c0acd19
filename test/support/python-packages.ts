/** Programs in Python that tests run: each in a virtual environment in `node_modules`, made once. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dir, '../../node_modules/.cache/python')

/**
 * The Python that has a module; undefined where there is none with `venv`, or no package index can be reached.
 *
 * @param requirement with its version, such as `openapi-python-client==0.29.1`, as output differs between versions
 */
export function findPythonWith(requirement: string, module: string): string | undefined {
  const folder = join(FOLDER, requirement)
  const python = join(folder, 'bin/python')
  // Not the program in `bin`, which names the folder that the environment was made in.
  if (succeeds(python, '-m', module, '--version')) return python
  const system = Bun.which('python3')
  if (!system) return undefined
  const isInstalled =
    succeeds(system, '-m', 'venv', '--clear', folder) &&
    succeeds(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement)
  if (isInstalled) return python
  console.log(`${requirement} could not be installed: its test is skipped.`)
  return undefined
}

function succeeds(program: string, ...args: string[]): boolean {
  return existsSync(program) && Bun.spawnSync([program, ...args], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0
}
