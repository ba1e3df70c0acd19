/**
 * The work trees that agents worked in, and what git said of them. It is remembered, because work trees are removed,
 * reflogs expire and remotes get other names: what was found of a moment once never changes.
 */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import { type GitFolder, isWorkTree, type NameHistory, nameAt, readWorkTree } from './git-folder.ts'
import { readJsonFile, writePrivateFile } from './private-files.ts'
import { stateFolder } from './state-folder.ts'

/** Some ten thousand work trees. Those that were not seen for longest are forgotten first. */
const LIMIT_BYTES = 2 * 1_048_576

type HistoryRow = [now: string | null, ...changes: [atMs: number, from: string | null][]]

interface SeenTree extends GitFolder {
  /** What git said until then stays. */
  seenAt: number
}

/** By root. Must be read by later versions too: nothing else has it. */
interface RememberedTrees {
  workTrees: Record<string, [seenAt: number, repository: HistoryRow, branch: HistoryRow]>
}

export class WorkTrees {
  readonly #remembered: Map<string, SeenTree>
  /** By root. */
  readonly #seen = new Map<string, SeenTree>()
  /** By folder. */
  readonly #found = new Map<string, GitFolder | undefined>()

  constructor(readonly environment: AgentsEnvironment) {
    this.#remembered = load(environment)
  }

  /** Undefined if the folder is not in a repository, and was not when it was last seen. */
  find(folder: string): GitFolder | undefined {
    if (!this.#found.has(folder)) this.#found.set(folder, this.#search(folder))
    return this.#found.get(folder)
  }

  #search(folder: string): GitFolder | undefined {
    if (!isAbsolute(folder)) return undefined
    let former: string | undefined
    for (let at = folder; ; at = dirname(at)) {
      if (isWorkTree(at)) return this.#see(at)
      const remembered = this.#remembered.get(at)
      // One that is gone may have been within another, which still exists.
      if (remembered && !existsSync(at)) return this.#seeAs(at, remembered)
      if (remembered) former ??= at
      if (dirname(at) === at) return former === undefined ? undefined : this.#see(former)
    }
  }

  #see(root: string): GitFolder {
    const seen = this.#seen.get(root)
    return seen ?? this.#seeAs(root, continued(this.#remembered.get(root), readWorkTree(root)))
  }

  #seeAs(root: string, tree: GitFolder): GitFolder {
    this.#seen.set(root, { ...tree, seenAt: Date.now() })
    return tree
  }

  /** If the folder can't be written, what disappears later is unknown then. */
  save(): void {
    if (this.#seen.size === 0) return
    // Another scan may have written meanwhile.
    const trees = [...new Map([...load(this.environment), ...this.#seen])]
    const rows: [root: string, row: RememberedTrees['workTrees'][string]][] = []
    let bytes = 0
    for (const [root, tree] of trees.sort(([, one], [, other]) => other.seenAt - one.seenAt)) {
      const { seenAt, repository, branch } = tree
      rows.push([root, [seenAt, rowOf(repository), rowOf(branch)]])
      bytes += JSON.stringify(rows.at(-1)).length
      if (bytes > LIMIT_BYTES) rows.pop()
    }
    try {
      writePrivateFile(pathOf(this.environment), JSON.stringify({ workTrees: Object.fromEntries(rows) }))
    } catch {}
  }
}

function pathOf(environment: AgentsEnvironment): string {
  return join(stateFolder(environment), 'work-trees.json')
}

/** Without what is damaged. */
function load(environment: AgentsEnvironment): Map<string, SeenTree> {
  const trees = new Map<string, SeenTree>()
  const rows = readJsonFile<Partial<RememberedTrees>>(pathOf(environment))?.workTrees
  for (const [root, row] of Object.entries(rows ?? {})) {
    try {
      const [seenAt, repository, branch] = row
      trees.set(root, { seenAt, repository: historyOf(repository), branch: historyOf(branch) })
    } catch {}
  }
  return trees
}

function rowOf({ now, changes }: NameHistory): HistoryRow {
  return [now, ...changes.map(({ atMs, from }): [number, string | null] => [atMs, from])]
}

function historyOf([now, ...changes]: HistoryRow): NameHistory {
  return { now, changes: changes.map(([atMs, from]) => ({ atMs, from })) }
}

/** What was seen stays, and what git says now counts since then. */
function continued(seen: SeenTree | undefined, now: GitFolder): GitFolder {
  if (!seen) return now
  const { repository, branch } = seen
  // Most repositories get a name when they are first pushed, after the first work in them.
  const isUnnamed = repository.now === null && repository.changes.length === 0
  // A clock that was set back would keep the past forever.
  const seenAt = Math.min(seen.seenAt, Date.now())
  return {
    repository: isUnnamed ? now.repository : joined(repository, now.repository, seenAt),
    branch: joined(branch, now.branch, seenAt),
  }
}

function joined(seen: NameHistory, current: NameHistory, seenAt: number): NameHistory {
  const former = seen.changes.filter(({ atMs }) => atMs <= seenAt)
  const changed = nameAt(current, seenAt) === seen.now ? [] : [{ atMs: seenAt, from: seen.now }]
  return { now: current.now, changes: [...former, ...changed, ...current.changes.filter(({ atMs }) => atMs > seenAt)] }
}
