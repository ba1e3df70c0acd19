/** Where openapi-python-client is installed for the tests: a virtual environment in `node_modules`, made once. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Pinned, as its output differs between versions. */
const PACKAGE = 'openapi-python-client==0.29.1'
const FOLDER = join(import.meta.dir, '../../node_modules/.cache/python-generator')

/** The Python that has it; undefined where there is none with `venv`, or no package index can be reached. */
export function findPythonGenerator(): string | undefined {
  const python = join(FOLDER, 'bin/python')
  // Not the program in `bin`, which names the folder that the environment was made in.
  if (succeeds(python, '-m', 'openapi_python_client', '--version')) return python
  const system = Bun.which('python3')
  if (!system) return undefined
  const isInstalled =
    succeeds(system, '-m', 'venv', '--clear', FOLDER) &&
    succeeds(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE)
  if (isInstalled) return python
  console.log(`${PACKAGE} could not be installed: the test of a client in Python is skipped.`)
  return undefined
}

function succeeds(program: string, ...args: string[]): boolean {
  return existsSync(program) && Bun.spawnSync([program, ...args], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0
}
