/** The server that a receipt is from. */
import { type ClientConfig, readAgentsEnvironment, readReader } from '../../config.ts'
import { findServerOfJob, storedCredentials } from '../agents/server.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { note } from '../terminal/print.ts'

/**
 * The server, with the token to ask with, which may be that of a job; undefined if there is none, and the session files of
 * this machine are read. A service token cannot read, so that of `tally agents login` is of no use. Throws where a server is
 * named, but no token.
 */
export async function receiptServer(flags: { url?: string; tokenFile?: string }): Promise<ClientConfig | undefined> {
  const stored = storedCredentials(readAgentsEnvironment())
  const { url, isNamed, token, announcement } = readReader({ url: flags.url, readTokenFile: flags.tokenFile }, stored)
  if (token !== undefined) return { url, token, announcement }
  const ofJob = await findServerOfJob(flags, 'read')
  if (ofJob) return ofJob
  if (isNamed) {
    throw new CommandError(
      `No read token is set for ${url}. Create one with \`tally tokens create --kind read --user … --name …\` and set TALLY_READ_TOKEN, or use --local for the session files of this machine.`,
      EXIT_USAGE,
    )
  }
  if (stored) {
    note(
      `The stored token for ${url} can only report: this receipt is from the session files of this machine. To ask the server, set TALLY_READ_TOKEN.`,
    )
  }
  return undefined
}
