/** Where openapi-python-client is installed for the tests: a virtual environment in `node_modules`, made once. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Pinned, as its output differs between versions. */
const PACKAGE = 'openapi-python-client==0.29.1'
const FOLDER = join(import.meta.dir, '../../node_modules/.cache/python-generator')

export interface PythonGenerator {
  program: string
  python: string
}

/** Undefined where there is no Python with `venv`, or no package index can be reached. */
export function findPythonGenerator(): PythonGenerator | undefined {
  const generator = { program: join(FOLDER, 'bin/openapi-python-client'), python: join(FOLDER, 'bin/python') }
  if (existsSync(generator.program)) return generator
  const python = Bun.which('python3')
  if (!python) return undefined
  const isInstalled =
    succeeds(python, '-m', 'venv', '--clear', FOLDER) &&
    succeeds(generator.python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE)
  if (isInstalled) return generator
  console.log(`${PACKAGE} could not be installed: the test of a client in Python is skipped.`)
  return undefined
}

function succeeds(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0
}
