/** The server and token that `tally agents login` stores, readable only by their owner. */
import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentsEnvironment, ClientConfig } from '../config.ts'
import { isMissing, writePrivateFile } from './private-files.ts'

/** The stored credentials cannot be used; the message explains what to do. */
export class CredentialsError extends Error {}

export function credentialsPath({ configHome }: AgentsEnvironment): string {
  return join(configHome, 'tally', 'agents.json')
}

/** Undefined if nothing is stored. Throws {@link CredentialsError}. */
export function readCredentials(environment: AgentsEnvironment): ClientConfig | undefined {
  const path = credentialsPath(environment)
  let text: string
  try {
    const { mode } = statSync(path)
    // Windows has no such bits: there, only the user can read their home folder.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new CredentialsError(
        `${path} contains a token but can be read by other users, so it is not used. Run \`chmod 600 ${path}\`. If someone else may have read it, revoke the token with \`tally tokens revoke\` and log in with a new one.`,
      )
    }
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof CredentialsError) throw error
    if (isMissing(error)) return undefined
    throw new CredentialsError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  const stored = parsed(text)
  if (!stored) throw new CredentialsError(`${path} is damaged. Run \`tally agents login\` to replace it.`)
  return stored
}

function parsed(text: string): ClientConfig | undefined {
  try {
    const { url, token, announcement } = JSON.parse(text)
    if (typeof url !== 'string' || typeof token !== 'string') return undefined
    return { url, token, ...(typeof announcement === 'string' && { announcement }) }
  } catch {
    return undefined
  }
}

/** Returns the path where they are stored. */
export function storeCredentials(environment: AgentsEnvironment, { url, token, announcement }: ClientConfig): string {
  const path = credentialsPath(environment)
  writePrivateFile(path, `${JSON.stringify({ url, token, announcement }, null, 2)}\n`)
  // An existing folder may have other permissions.
  chmodSync(dirname(path), 0o700)
  return path
}

/** Returns whether there were any. */
export function removeCredentials(environment: AgentsEnvironment): boolean {
  const path = credentialsPath(environment)
  try {
    rmSync(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
