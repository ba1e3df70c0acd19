/** The repository and branch of each call: what the agent recorded, completed by git. */
import type { Place } from './agent.ts'
import { type GitFolder, nameAt, repositoryName } from './git-folder.ts'
import type { ModelCall } from './model-calls.ts'
import type { Reader } from './readers/reader.ts'
import type { PlaceOf } from './session-sums.ts'
import type { WorkTrees } from './work-trees.ts'

/**
 * Git records whole seconds. A call that ends within that of a checkout was before it: it is the one that asked for it.
 */
const CHECKOUT_MS = 999

/**
 * Folders of one repository are one place. `startOf` returns when a session started if its calls have the branch of that
 * moment; otherwise undefined.
 */
export function createPlaceOf(
  workTrees: WorkTrees,
  startOf: (session: string) => number | undefined,
  { recordsStarts }: Pick<Reader, 'recordsStarts'>,
): PlaceOf {
  const places = new Map<string, Place>()
  let latest: { call: ModelCall; place: Place } | undefined

  function branchOf({ branch, session, at, endedAt }: ModelCall, git: GitFolder | undefined): string | null {
    const hasOnlyStart = recordsStarts && endedAt === undefined
    const moment = hasOnlyStart ? at : Math.min(at, (endedAt ?? at) - CHECKOUT_MS)
    if (branch === '') return git ? nameAt(git.branch, moment) : null
    const startedAt = startOf(session)
    const hasChanged = git?.branch.changes.some(({ atMs }) => atMs > startedAt! && atMs <= moment)
    return startedAt !== undefined && hasChanged ? nameAt(git!.branch, moment) : branch
  }

  return (call) => {
    if (latest && isAlike(call, latest.call)) return latest.place
    const git = workTrees.find(call.folder)
    const repository = repositoryName(call.remote ?? '') ?? (git ? nameAt(git.repository, call.at) : null)
    const branch = branchOf(call, git)
    const key = JSON.stringify([repository, branch])
    const place = places.get(key) ?? { repository, branch }
    places.set(key, place)
    // Without a change in the meantime, the next call is of the same place.
    latest = git && git.branch.changes.length + git.repository.changes.length > 0 ? undefined : { call, place }
    return place
  }
}

function isAlike(one: ModelCall, other: ModelCall): boolean {
  return one.folder === other.folder && one.branch === other.branch && (one.remote ?? '') === (other.remote ?? '')
}
