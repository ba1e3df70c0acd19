/** The repository and branch of each call: what the agent recorded, completed by git. */
import type { Place } from './agent.ts'
import { branchAt, findGitFolder, type GitFolder, repositoryName } from './git-folder.ts'
import type { ModelCall } from './model-calls.ts'
import type { PlaceOf } from './session-sums.ts'

/**
 * Folders of one repository are one place. `startOf` returns when a session started if its calls have the branch of that
 * moment; otherwise undefined.
 */
export function createPlaceOf(startOf: (session: string) => number | undefined): PlaceOf {
  const folders = new Map<string, GitFolder | undefined>()
  const places = new Map<string, Place>()
  let latest: { call: ModelCall; place: Place } | undefined

  function gitOf(folder: string): GitFolder | undefined {
    if (!folders.has(folder)) folders.set(folder, findGitFolder(folder))
    return folders.get(folder)
  }

  function branchOf({ branch, session, at }: ModelCall, git: GitFolder | undefined): string | null {
    if (branch === '') return git ? branchAt(git, at) : null
    const startedAt = startOf(session)
    const hasChanged = git?.checkouts.some(({ atMs }) => atMs > startedAt! && atMs <= at)
    return startedAt !== undefined && hasChanged ? branchAt(git!, at) : branch
  }

  return (call) => {
    if (latest && isAlike(call, latest.call)) return latest.place
    const git = gitOf(call.folder)
    const repository = repositoryName(call.remote ?? '') ?? git?.repository ?? null
    const branch = branchOf(call, git)
    const key = JSON.stringify([repository, branch])
    const place = places.get(key) ?? { repository, branch }
    places.set(key, place)
    // Without a checkout in the meantime, the next call is of the same place.
    latest = git && git.checkouts.length > 0 ? undefined : { call, place }
    return place
  }
}

function isAlike(one: ModelCall, other: ModelCall): boolean {
  return one.folder === other.folder && one.branch === other.branch && (one.remote ?? '') === (other.remote ?? '')
}
