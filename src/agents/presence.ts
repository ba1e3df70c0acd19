/** What is on this machine of an agent: found without starting it, without its sessions being read, and without a network. */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import { AGENTS, UNREAD_AGENTS } from '../shared/agents.ts'
import type { AgentName, Damage } from './agent.ts'
import { readJsonFile } from './private-files.ts'
import { READERS } from './readers/all.ts'
import { findFiles, sessionPlaces } from './session-files.ts'

export interface Presence {
  /** The path of its command; null if there is none on the PATH. */
  program: string | null
  /** Null if it cannot be told from where the command is installed. */
  version: string | null
  /** Those of its folders and files that exist, which are read. */
  folders: string[]
  sessionFiles: number
  /** When a session was last written, in milliseconds. */
  lastSessionAt: number | null
  damage: Damage[]
}

export function presenceOf(agent: AgentName, environment: AgentsEnvironment): Presence {
  const reader = READERS[agent]
  const program = Bun.which(AGENTS[agent].program)
  const damage: Damage[] = []
  const files = findFiles(reader, environment, damage)
  return {
    program,
    version: program === null ? null : versionOf(program),
    folders: sessionPlaces(reader, environment).filter((path) => existsSync(path)),
    sessionFiles: files.length,
    lastSessionAt: files.reduce<number | null>((latest, { changedAt }) => Math.max(latest ?? 0, changedAt), null),
    damage,
  }
}

/** An agent on this machine whose usage is not read, and what shows that it is there. */
export interface UnreadPresence {
  agent: string
  title: string
  path: string
  reason: string
}

export function unreadOn({ home }: AgentsEnvironment): UnreadPresence[] {
  return Object.entries(UNREAD_AGENTS).flatMap(([agent, { title, program, folders, reason }]) => {
    const path = Bun.which(program) ?? folders.map((folder) => join(home, folder)).find((folder) => existsSync(folder))
    return path === undefined ? [] : [{ agent, title, path, reason }]
  })
}

const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/

/** A folder or file that is named after a version, as installers and Homebrew do: `…/claude/versions/2.0.31`. */
const VERSIONED = /[\\/]v?(\d+\.\d+\.\d+[^\\/]*)(?=[\\/]|$)/g

/** By the package or the folder that the command belongs to: some agents look for updates when they are asked. */
function versionOf(program: string): string | null {
  const path = realpathSync(program)
  const folder = PACKAGE.exec(path)?.[0]
  const version = folder && readJsonFile<{ version?: unknown }>(join(folder, 'package.json'))?.version
  return typeof version === 'string' ? version : ([...path.matchAll(VERSIONED)].at(-1)?.[1] ?? null)
}
