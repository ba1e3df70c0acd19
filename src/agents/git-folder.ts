/**
 * The repository and branch of a session's folder, read from git's files: starting git would take longer than the scan.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'

interface Checkout {
  atMs: number
  /** The previous branch. */
  from: string
}

/** A work tree, including linked ones and submodules. */
export interface GitFolder {
  /** The name in labels; null if the repository exists only on this machine. */
  repository: string | null
  /** Null if no branch is checked out. */
  branch: string | null
  /** Oldest first. */
  checkouts: Checkout[]
}

/** Undefined if the folder is not in a repository, or no longer exists. */
export function findGitFolder(folder: string): GitFolder | undefined {
  const directory = findGitDirectory(folder)
  if (directory === undefined) return undefined
  const shared = textOfFile(join(directory, 'commondir')).trim()
  const common = shared === '' ? directory : resolve(directory, shared)
  return {
    repository: repositoryName(remoteUrl(textOfFile(join(common, 'config')))),
    branch: /^ref: refs\/heads\/(.+)$/m.exec(textOfFile(join(directory, 'HEAD')))?.[1]?.trim() ?? null,
    checkouts: checkoutsIn(textOfFile(join(directory, 'logs', 'HEAD'))),
  }
}

/** The branch that was checked out at that time, from the reflog of HEAD. */
export function branchAt({ branch, checkouts }: GitFolder, atMs: number): string | null {
  const previous = checkouts.find((checkout) => checkout.atMs > atMs)?.from
  // If no branch was checked out, git records the commit.
  if (previous !== undefined) return /^[0-9a-f]{40,64}$/.test(previous) ? null : previous
  return branch
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

function findGitDirectory(folder: string): string | undefined {
  if (!isAbsolute(folder)) return undefined
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, '.git')
    if (existsSync(candidate)) {
      // In a linked work tree or a submodule, `.git` is a file that contains the path of its part of the repository.
      const elsewhere = /^gitdir: (.+)$/m.exec(textOfFile(candidate))?.[1]
      return elsewhere === undefined ? candidate : resolve(at, elsewhere.trim())
    }
    if (dirname(at) === at) return undefined
  }
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

function checkoutsIn(log: string): Checkout[] {
  return [...log.matchAll(/ (\d+) [+-]\d{4}\tcheckout: moving from (\S+) to /g)].map(([, seconds, from]) => ({
    atMs: Number(seconds) * 1_000,
    from: from!,
  }))
}

/** Empty if it is not a file or cannot be read. */
function textOfFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
