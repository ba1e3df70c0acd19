/** The option `--env-file`, with which any command runs with the options of the service. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { extendEnvironment } from '../config.ts'
import { parseEnvironmentFile } from '../lib/environment-file.ts'
import { CommandError, EXIT_USAGE } from './failures.ts'
import { findUnitWith } from './service-unit.ts'

/**
 * Adds the variables of a file, and of the systemd unit that reads it, such as the folder of the database and the files of
 * its credentials.
 */
export function useEnvironmentFile(path: string): void {
  const text = readText(path)
  extendEnvironment(findUnitWith(resolve(path))?.environment ?? parseEnvironmentFile(text))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const advice =
      code === 'ENOENT' ? 'Check the path.' : 'Run this command as the user of the service: sudo -u tally tally …'
    throw new CommandError(`--env-file: ${path} cannot be read (${code ?? message}). ${advice}`, EXIT_USAGE)
  }
}
