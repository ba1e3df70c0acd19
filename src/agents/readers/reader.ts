/**
 * What differs between agents: the location and format of session files, and how to detect copies. A new one also needs its
 * facts in `shared/agents.ts`, a line in `all.ts`, captures of the real agent in `test/fixtures`, and, if it calls programs at
 * events, an `Installer` in `agents/install/`.
 */
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import type { FileReading, ModelCall } from '../model-calls.ts'
import type { SettledCalls } from '../settled-calls.ts'

export interface Reader {
  name: AgentName
  /** The folders that may contain session files; they need not exist. */
  folders(environment: AgentsEnvironment): string[]
  /** Session files outside of the folders; they need not exist. */
  files?(environment: AgentsEnvironment): string[]
  /** Whether a file is a session file, by its path relative to the folder. */
  isSessionFile(path: string): boolean
  /**
   * Whether a folder may contain session files, by its relative path; if absent, all may. Other folders can be very
   * large.
   */
  isSessionFolder?(path: string): boolean
  /** The calls of a session all have the branch that was checked out at its start. */
  recordsFirstBranch?: true
  /** The time of a call is that of its start, also if that of its end is not recorded. */
  recordsStarts?: true
  /** What the costs in its files are charges of, if they are not for metered use. */
  charges?: 'credits'
  /** Other files that affect what is read from this one, such as its log. */
  companions?(path: string): string[]
  /** Throws the operating system's error if the file cannot be read. */
  read(path: string): FileReading
  /** The calls of all files, each once and in the session that made it. */
  settle(files: ReadFile[], settledCalls: SettledCalls, onNote: OnNote): ModelCall[]
  /** The titles of sessions, by session. Made of prompts, so only read on request. */
  readTitles(path: string): Map<string, string>
}

/** Called with what is uncertain about the calls of a file, in words. */
export type OnNote = (path: string, what: string) => void

export interface ReadFile {
  path: string
  /** Creation time of the file in milliseconds, if the file system knows it. */
  bornAt: number
  reading: FileReading
}
