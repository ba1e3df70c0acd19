/** What git knows of the folder that a session worked in, read from its files: starting git costs more than the scan. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'

interface Checkout {
  atMs: number
  /** The branch that was left. */
  from: string
}

/** A work tree, a linked one and a submodule included. */
export interface GitFolder {
  /** As it is named in labels; null where nothing but this machine knows it. */
  repository: string | null
  /** Null where no branch is checked out. */
  branch: string | null
  /** The latest last. */
  checkouts: Checkout[]
}

/** Undefined where the folder belongs to no repository, or is gone with it. */
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
  const left = checkouts.find((checkout) => checkout.atMs > atMs)?.from
  // Where no branch was checked out, git says the commit.
  if (left !== undefined) return /^[0-9a-f]{40,64}$/.test(left) ? null : left
  return branch
}

/** As labels name a repository: `owner/name`, or with more or fewer parts its host as well. Null for a local path. */
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
      // A linked work tree and a submodule have a file there, which says where their part of the repository is.
      const elsewhere = /^gitdir: (.+)$/m.exec(textOfFile(candidate))?.[1]
      return elsewhere === undefined ? candidate : resolve(at, elsewhere.trim())
    }
    if (dirname(at) === at) return undefined
  }
}

/** That of `origin`, else of the first remote there is. */
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

/** Empty where it is no file or cannot be read. */
function textOfFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
