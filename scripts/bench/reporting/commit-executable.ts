/** The executable of another commit, for a comparison with that of the work tree. */
import { copyFile, mkdir, realpath, rename, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { printProgress, UsageError } from '../clean-up.ts'

const ROOT = join(import.meta.dir, '../../..')

/** Lines of a failed build that are shown. */
const SHOWN_LINES = 20

export interface CommitExecutable {
  path: string
  /** Its short id and subject. */
  name: string
  /** The worktree that it was built in. */
  checkout: string
}

/** Builds it in a temporary git worktree below a folder, with this checkout's packages. */
export async function buildCommit(
  revision: string,
  parent: string,
  stack: AsyncDisposableStack,
): Promise<CommitExecutable> {
  const commit = await run(
    ['git', 'rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
    ROOT,
  )
  if (commit.code !== 0) throw new UsageError(`This repository has no commit ${revision}.`)
  const name = (await run(['git', 'log', '-1', '--format=%h %s', commit.stdout], ROOT)).stdout
  printProgress(`building ${name}`)
  const worktree = join(parent, 'commit')
  const refuse = (why: string) => new UsageError(`Commit ${name} can't be built here. ${why}`)

  stack.defer(async () => {
    await run(['git', 'worktree', 'remove', '--force', worktree], ROOT)
  })
  const added = await run(['git', 'worktree', 'add', '--quiet', '--detach', worktree, commit.stdout], ROOT)
  if (added.code !== 0) throw refuse(added.stderr)
  if (!(await exists(join(worktree, 'scripts/build.ts')))) throw refuse('It has no scripts/build.ts.')
  await symlink(await realpath(join(ROOT, 'node_modules')), join(worktree, 'node_modules'))
  await mkdir(join(worktree, 'dist'))
  for (const pack of ['dist/web.pack', 'dist/manual.pack']) {
    // Building them takes longer than everything else, and is skipped if they are up to date.
    if (await exists(join(ROOT, pack))) await copyFile(join(ROOT, pack), join(worktree, pack))
  }

  for (const script of ['scripts/web.ts', 'scripts/build.ts']) {
    if (!(await exists(join(worktree, script)))) continue
    const { code, stdout, stderr } = await run([process.execPath, script], worktree)
    if (code === 0) continue
    const lines = `${stdout}\n${stderr}`.trim().split('\n').slice(-SHOWN_LINES).join('\n')
    throw refuse(`Its ${script} failed with the packages of this checkout, whose versions may differ:\n${lines}`)
  }
  const built = join(worktree, 'dist/tally')
  if (!(await exists(built))) throw refuse('Its scripts/build.ts did not create dist/tally.')
  const path = join(parent, 'tally-of-commit')
  await rename(built, path)
  return { path, name, checkout: worktree }
}

/** The work tree's own name: its commit, and whether it has changes. */
export async function nameOfWorkTree(): Promise<string> {
  const { stdout: head } = await run(['git', 'log', '-1', '--format=%h %s'], ROOT)
  const { stdout: changes } = await run(['git', 'status', '--porcelain', '--untracked-files=no'], ROOT)
  return changes === '' ? head : `${head}, with uncommitted changes`
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

async function run(command: string[], cwd: string) {
  const child = Bun.spawn(command, { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout: stdout.trim(), stderr: stderr.trim() }
}
