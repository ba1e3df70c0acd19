/**
 * Notifications about changes in folders. They are hints: whoever uses them also looks at the files from time to time, since
 * network file systems notify nothing, and folders may be too many, be created later, or be replaced.
 */
import { type FSWatcher, statSync, watch } from 'node:fs'

/** Of the system, each of which costs 5 KB. The latest folders, in which sessions grow, are notified. */
const LIMIT_FOLDERS = 1_000

const ADVICE = 'Sessions are looked for every minute instead.'

/** Why the system notifies no more folders, by the code of its error. */
const LIMITS: Record<string, string> = {
  ENOSPC: `The limit of inotify watches is reached. ${ADVICE} To raise it: sudo sysctl fs.inotify.max_user_watches=524288`,
  EMFILE: `The limit of inotify instances is reached. ${ADVICE} To raise it: sudo sysctl fs.inotify.max_user_instances=1024`,
}

interface Watched {
  /** Of a folder that may be replaced by another one. */
  identity: string
  watcher: FSWatcher
}

export class FolderWatches {
  readonly #watched = new Map<string, Watched>()
  readonly #onChange: () => void
  /** Why some folders are not notified, and what to do. */
  limit: string | null = null

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Watches these folders and no others, given the time of the latest change in each; they need not exist. */
  set(folders: ReadonlyMap<string, number>): void {
    this.limit = null
    const latest = [...folders].sort(([, one], [, other]) => other - one).slice(0, LIMIT_FOLDERS)
    const wanted = new Map<string, string>()
    for (const [folder] of latest) {
      const stats = statSync(folder, { throwIfNoEntry: false })
      if (stats) wanted.set(folder, `${stats.dev}:${stats.ino}`)
    }
    for (const [folder, { identity }] of this.#watched) if (wanted.get(folder) !== identity) this.#forget(folder)
    for (const [folder, identity] of wanted) {
      if (this.limit === null && !this.#watched.has(folder)) this.#watch(folder, identity)
    }
  }

  close(): void {
    for (const folder of [...this.#watched.keys()]) this.#forget(folder)
  }

  #watch(folder: string, identity: string): void {
    try {
      // Not recursive: there are folders that contain much else, and on Linux each folder is a watch of its own.
      const watcher = watch(folder, this.#onChange)
      // Of a folder that is removed, for example: the next look finds out.
      watcher.on('error', () => this.#forget(folder))
      this.#watched.set(folder, { identity, watcher })
    } catch (error) {
      this.limit = LIMITS[(error as NodeJS.ErrnoException).code ?? ''] ?? null
    }
  }

  #forget(folder: string): void {
    this.#watched.get(folder)?.watcher.close()
    this.#watched.delete(folder)
  }
}
