/**
 * The repository and the branches of a work tree, read from git's files: starting git would take longer than the scan.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** A name and those before it; null if there was none. */
export interface NameHistory {
  now: string | null
  /** Oldest first, with the name until then. */
  changes: { atMs: number; from: string | null }[]
}

/** A work tree, including linked ones and submodules. */
export interface GitFolder {
  /** The name in labels; null if the repository exists only on this machine. */
  repository: NameHistory
  /** Null if no branch is checked out. */
  branch: NameHistory
}

export function nameAt({ now, changes }: NameHistory, atMs: number): string | null {
  const next = changes.find((change) => change.atMs > atMs)
  return next === undefined ? now : next.from
}

/** Whether the folder is the root of a work tree. */
export function isWorkTree(root: string): boolean {
  return existsSync(join(root, '.git'))
}

/** One that is gone has neither repository nor branch. */
export function readWorkTree(root: string): GitFolder {
  const directory = gitDirectory(join(root, '.git'))
  const shared = textOfFile(join(directory, 'commondir')).trim()
  const common = shared === '' ? directory : resolve(directory, shared)
  return {
    repository: { now: repositoryName(remoteUrl(textOfFile(join(common, 'config')))), changes: [] },
    branch: { now: currentBranch(directory), changes: changesIn(textOfFile(join(directory, 'logs', 'HEAD'))) },
  }
}

/**
 * The name of a repository in labels: `owner/name`, or with the host if the path has fewer or more parts. Null for a
 * local path.
 */
export function repositoryName(url: string): string | null {
  const [, host, path] =
    /^(?:https?|ssh|git):\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/+(.+)$/.exec(url) ??
    /^(?:[^/@:]+@)?([^/:@]{2,}):(?!\/\/)\/*(.+)$/.exec(url) ??
    []
  if (host === undefined || path === undefined) return null
  const parts = path
    .replace(/[?#].*$/, '')
    .replace(/\.git\/*$/, '')
    .split('/')
    .filter(Boolean)
  if (parts.length === 0) return null
  return parts.length === 2 ? parts.join('/') : [host.toLowerCase(), ...parts].join('/')
}

/** In a linked work tree or a submodule, `.git` is a file that contains the path of its part of the repository. */
function gitDirectory(path: string): string {
  const elsewhere = /^gitdir: (.+)$/m.exec(textOfFile(path))?.[1]
  return elsewhere === undefined ? path : resolve(path, '..', elsewhere.trim())
}

/** Also during a rebase, which continues it under no name. */
function currentBranch(directory: string): string | null {
  const heads = [
    textOfFile(join(directory, 'HEAD')).replace(/^ref: /, ''),
    textOfFile(join(directory, 'rebase-merge', 'head-name')),
    textOfFile(join(directory, 'rebase-apply', 'head-name')),
  ]
  return heads.flatMap((head) => /^refs\/heads\/(.+)$/m.exec(head)?.[1]?.trim() ?? [])[0] ?? null
}

/** The URL of `origin`, otherwise of the first remote. */
function remoteUrl(config: string): string {
  const urls = new Map<string, string>()
  let remote: string | undefined
  for (const line of config.split('\n')) {
    const section = /^\s*\[\s*(\w+)(?:\s+"(.*)")?\s*\]/.exec(line)
    if (section) remote = section[1]?.toLowerCase() === 'remote' ? section[2] : undefined
    const url = /^\s*url\s*=\s*(.*?)\s*$/i.exec(line)?.[1]
    if (remote !== undefined && url !== undefined && !urls.has(remote)) urls.set(remote, url.replace(/^"(.*)"$/, '$1'))
  }
  return urls.get('origin') ?? [...urls.values()][0] ?? ''
}

/** Checkouts, and new names of the branch that was checked out. */
const CHANGE = / (\d+) [+-]\d{4}\t(?:checkout: moving from (\S+) to |Branch: renamed refs\/heads\/(\S+) to )/g

/** From the reflog of HEAD. */
function changesIn(log: string): NameHistory['changes'] {
  return [...log.matchAll(CHANGE)].map(([, seconds, left, renamed]) => {
    const from = left ?? renamed!
    // If no branch was checked out, git records the commit.
    return { atMs: Number(seconds) * 1_000, from: /^[0-9a-f]{40,64}$/.test(from) ? null : from }
  })
}

/** Empty if it is not a file or cannot be read. */
function textOfFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
