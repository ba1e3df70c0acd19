/** What differs between agents: the location and format of session files, and how to detect copies. */
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import type { FileReading, ModelCall } from '../model-calls.ts'

export interface Reader {
  name: AgentName
  /** As people write it. */
  title: string
  /** The folders that may hold session files, whether they are there or not. */
  folders(environment: AgentsEnvironment): string[]
  /** Whether a file in one of the folders is a session file, by its path from there. */
  isSessionFile(path: string): boolean
  /** Whether a folder may hold session files, by its path; all may where this is absent. Others can hold a great deal. */
  isSessionFolder?(path: string): boolean
  /** Files whose change changes what is read of this one, such as a log that belongs to it. */
  companions?(path: string): string[]
  /** Throws what the operating system says where it cannot be read. */
  read(path: string): FileReading
  /** The calls of all files, each once and in the session that made it. */
  settle(files: ReadFile[]): ModelCall[]
  /** What sessions are called, by session. Made of prompts, so that it is read only where somebody asks for it. */
  readTitles(path: string): Map<string, string>
}

export interface ReadFile {
  path: string
  /** When the file was made, in milliseconds, as far as the file system knows. */
  bornAt: number
  reading: FileReading
}
