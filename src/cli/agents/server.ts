/** The server that the agents commands talk to, and how its errors are reported. */

import { type JobTokenKind, tokenOfJob } from '../../agents/ci-identity.ts'
import { CredentialsError, readCredentials } from '../../agents/credentials.ts'
import { ServerError } from '../../agents/server.ts'
import {
  type AgentsEnvironment,
  type ClientConfig,
  namesToken,
  OPTIONS,
  readAgentsEnvironment,
  readAgentsServer,
  readJob,
} from '../../config.ts'
import { CommandError } from '../failures.ts'
import { note } from '../terminal/print.ts'

export interface ServerFlags {
  url?: string
  token?: string
  tokenFile?: string
}

export interface AgentsServer {
  environment: AgentsEnvironment
  server: ClientConfig
  /** The server that is meant where nothing names one. */
  usualServer: string
}

/** What `tally agents login` stored; undefined where it did not. */
export function storedCredentials(environment: AgentsEnvironment): ClientConfig | undefined {
  try {
    return readCredentials(environment)
  } catch (error) {
    throw error instanceof CredentialsError ? new CommandError(error.message) : error
  }
}

/** Whether there is no token at all, neither stored nor named. */
export const isLoggedOut = (flags: ServerFlags): boolean =>
  !namesToken({ ...flags }) && storedCredentials(readAgentsEnvironment()) === undefined

/** Throws where no token is set, or where what is set cannot be used. */
export function agentsServer(flags: ServerFlags): AgentsServer {
  const environment = readAgentsEnvironment()
  const stored = storedCredentials(environment)
  return {
    environment,
    server: readAgentsServer(flags, stored),
    usualServer: stored?.url ?? OPTIONS.url.default,
  }
}

/** Says why a call waits before it is repeated. */
export const notePause = (reason: string, pauseMs: number): void =>
  note(`tally: ${reason} Retrying in ${pauseMs / 1_000} s.`)

/** The server with the token that the job gets for its ID token; undefined outside of jobs that have one. */
export async function findServerOfJob(
  { url }: { url?: string | undefined },
  kind: JobTokenKind,
): Promise<ClientConfig | undefined> {
  const job = readJob({ url })
  if (!job) return undefined
  const token = await withServerIssues(() => tokenOfJob(readAgentsEnvironment(), job, kind, { onPause: notePause }))
  return { url: job.url, token }
}

/** The server to report to; undefined if no token is set or stored, outside of jobs that get one. */
export const findReportingServer = async (flags: ServerFlags): Promise<ClientConfig | undefined> =>
  isLoggedOut(flags) ? await findServerOfJob(flags, 'svc') : agentsServer(flags).server

/** Runs `work` and turns a {@link ServerError} into a {@link CommandError}. */
export async function withServerIssues<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ServerError ? new CommandError(error.message) : error
  }
}
