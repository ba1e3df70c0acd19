/** Which branch of which repository a receipt is of, and since when the branch exists, as git says. */
import { dirname, resolve } from 'node:path'
import { isWorkTree, readWorkTree } from '../../agents/git-folder.ts'
import { readPipelineBranch } from '../../config.ts'
import { dayAt, startOfDay } from '../../lib/calendar.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { note } from '../terminal/print.ts'

export interface AskedBranch {
  /** Null if it has no remote: only this machine knows it then. */
  repository: string | null
  branch: string
  /** The folder of the work tree; undefined outside of one. */
  root: string | undefined
  since: Since | undefined
}

/** The start of the UTC day on which a branch left another one. */
export interface Since {
  at: number
  ref: string
}

interface BranchFlags {
  since?: string
  branch?: string
  repository?: string
}

/** Throws a {@link CommandError} that says which flag is missing or wrong. */
export function branchOf({ since, branch, repository }: BranchFlags): AskedBranch {
  const root = findRoot(process.cwd())
  if (root === undefined && (repository === undefined || branch === undefined || since !== undefined)) {
    throw usage(
      'This folder is not in a git repository. Run it in one, or use --repository with --branch, or --ticket.',
    )
  }
  const tree = root === undefined ? undefined : readWorkTree(root)
  const named = branch ?? readPipelineBranch() ?? tree?.branch.now
  if (!named) throw usage('No branch is checked out. Use --branch.')
  return {
    repository: repository ?? tree?.repository.now ?? null,
    branch: named,
    root,
    since: since === undefined ? undefined : sinceOf(root!, since, { branch: named, isChosen: branch !== undefined }),
  }
}

function findRoot(folder: string): string | undefined {
  const at = resolve(folder)
  if (isWorkTree(at)) return at
  return dirname(at) === at ? undefined : findRoot(dirname(at))
}

/**
 * When the branch left the other one: the earliest of the commits that it left from (those of merges are later), of its own
 * commits (which keep their authors' dates when they are rebased) and of what git recorded of the branch here. The start
 * of that day, because work begins before the first commit. Undefined, with a note, if the branch has nothing of its own.
 */
function sinceOf(
  root: string,
  ref: string,
  { branch, isChosen }: { branch: string; isChosen: boolean },
): Since | undefined {
  const git = (...args: string[]) => runGit(root, args)
  if (git('rev-parse', '--is-shallow-repository') === 'true') {
    throw usage(
      'This clone is shallow, so git does not know when the branch began. Fetch the history: fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 in GitLab, or `git fetch --unshallow`.',
    )
  }
  const commitOf = (name: string) => git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
  const base = commitOf(ref)
  if (!base) throw usage(`--since: git knows no commit or branch '${ref}' here. Fetch it, or use another one.`)
  const own = isChosen
    ? (commitOf(`refs/heads/${branch}`) ?? commitOf(`refs/remotes/origin/${branch}`))
    : commitOf('HEAD')
  if (!own) throw usage(`--since: git knows no branch '${branch}' here. Fetch it, or leave out --since.`)
  // Seconds, of which the first are those of the boundaries.
  const left = git('log', '--boundary', '--format=%m %ct %at', own, `^${base}`)?.split('\n').filter(Boolean) ?? []
  const made = git('log', '--walk-reflogs', '--date=unix', '--format=%gd', `refs/heads/${branch}`)
  const moments = [
    ...left.map((line) => line.split(' ')).map(([mark, committed, authored]) => (mark === '-' ? committed : authored)),
    ...(made ?? '').matchAll(/@\{(\d+)\}/g).map(([, seconds]) => seconds),
  ].map(Number)
  if (moments.length === 0) {
    note(`${branch} has no commits of its own since ${ref}, so all of its sessions are included.`)
    return undefined
  }
  return { at: startOfDay(dayAt(Math.min(...moments) * 1_000, 'UTC'), 'UTC'), ref }
}

/** What git prints; undefined if it refuses. */
function runGit(root: string, args: string[]): string | undefined {
  try {
    const { exitCode, stdout } = Bun.spawnSync(['git', '-C', root, ...args], { stdin: 'ignore', stderr: 'ignore' })
    return exitCode === 0 ? stdout.toString().trim() : undefined
  } catch {
    throw new CommandError('--since needs git, which cannot be started. Install it, or leave out --since.')
  }
}

const usage = (message: string) => new CommandError(message, EXIT_USAGE)
