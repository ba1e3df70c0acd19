/** What the ID token of a run claims, by provider, and whether a trust is for it. Pure. */
import type { TrustProvider } from '../../database/schema/values.ts'
import { Problem } from '../../errors.ts'

/** The claims of a verified ID token. */
export type Claims = Readonly<Record<string, unknown>>

/** A job that a provider vouches for. */
export interface Run {
  /** The repository or project that the job belongs to, by the id that it keeps when it is renamed. */
  repositoryId: string
  repository: string
  /** Null for a tag, and for a pull request. */
  branch: string | null
  isPullRequest: boolean
  environment: string | null
}

/** What a trust is for. */
export interface Trusted {
  repositoryId: string
  /** Patterns; none for any branch and tag. */
  branches: readonly string[]
  pullRequests: boolean
  /** Null for any environment, and none. */
  environment: string | null
}

/** Names of branches and environments are shorter. */
const CLAIM_LIMIT = 1_000

/** The issuers of the providers' own services. */
export const ISSUERS: Record<TrustProvider, string> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
}

export const refused = (detail: string): Problem => new Problem('id_token_refused', detail)

/** Throws `id_token_refused` if claims are missing, or nothing is known of the code that runs. */
export function runOf(provider: TrustProvider, claims: Claims): Run {
  return provider === 'github' ? runOfGitHub(claims) : runOfGitLab(claims)
}

function runOfGitHub(claims: Claims): Run {
  const ref = textOf(claims, 'ref')
  const event = textOf(claims, 'event_name')
  // Its ref is the base branch, while the code may be that of anybody.
  if (event === 'pull_request_target') {
    throw refused(
      'Runs of `pull_request_target` get no token, because they may run untrusted code. Use `pull_request`.',
    )
  }
  const isPullRequest = event === 'pull_request' || ref.startsWith('refs/pull/')
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null
  return {
    repositoryId: textOf(claims, 'repository_id'),
    repository: textOf(claims, 'repository'),
    branch: isPullRequest ? null : branch,
    isPullRequest,
    environment: optionalTextOf(claims, 'environment'),
  }
}

function runOfGitLab(claims: Claims): Run {
  const source = textOf(claims, 'pipeline_source')
  // The ref of a child pipeline of a merge request is its source branch, also that of a fork. Only a branch of the project can
  // be protected.
  const isOfAnyBranch = source === 'parent_pipeline' && claims.ref_protected !== 'true'
  const isPullRequest = source === 'merge_request_event' || isOfAnyBranch
  const ref = textOf(claims, 'ref')
  const isBranch = textOf(claims, 'ref_type') === 'branch'
  return {
    repositoryId: textOf(claims, 'project_id'),
    repository: textOf(claims, 'project_path'),
    branch: isBranch && !isPullRequest ? ref : null,
    isPullRequest,
    environment: optionalTextOf(claims, 'environment'),
  }
}

function textOf(claims: Claims, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  if (typeof value === 'string' && value.length <= CLAIM_LIMIT && /^\P{Cc}+$/u.test(value)) return value
  throw refused(
    `The claim \`${name}\` of the ID token must be a text of up to ${CLAIM_LIMIT} characters without line breaks.`,
  )
}

const optionalTextOf = (claims: Claims, name: string): string | null =>
  Object.hasOwn(claims, name) && claims[name] !== null ? textOf(claims, name) : null

/** One thing that a trust requires of a run. */
export interface Comparison {
  claim: 'repository_id' | 'branch' | 'environment'
  run: string
  trust: string
  matches: boolean
}

/** Everything that the trust requires: it is for the run if all of them match. */
export function compared(trust: Trusted, run: Run): Comparison[] {
  const { branches, pullRequests, environment } = trust
  const branchMatches = run.isPullRequest
    ? pullRequests
    : branches.length === 0 || branches.some((pattern) => run.branch !== null && matchesPattern(pattern, run.branch))
  const onBranches = branches.length === 0 ? 'any branch or tag' : branches.join(', ')
  return [
    {
      claim: 'repository_id',
      run: run.repositoryId,
      trust: trust.repositoryId,
      matches: run.repositoryId === trust.repositoryId,
    },
    {
      claim: 'branch',
      run: run.isPullRequest ? 'a pull request' : (run.branch ?? 'a tag'),
      trust: pullRequests ? `${onBranches}, and pull requests` : onBranches,
      matches: branchMatches,
    },
    {
      claim: 'environment',
      run: run.environment ?? 'none',
      trust: environment ?? 'any, or none',
      matches: environment === null || environment === run.environment,
    },
  ]
}

/** First by the repository, as anybody with one at the same provider may ask. */
export const isFor = (trust: Trusted, run: Run): boolean =>
  trust.repositoryId === run.repositoryId && compared(trust, run).every(({ matches }) => matches)

/** `*` matches any characters except `/`, `**` any characters. Patterns have few of them, so that no name takes long. */
function matchesPattern(pattern: string, branch: string): boolean {
  const source = pattern
    .split(/(\*\*?)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : RegExp.escape(part)))
    .join('')
  return new RegExp(`^${source}$`, 'su').test(branch)
}

/** How often a pattern may have `*` or `**`. */
const WILDCARDS_LIMIT = 3

export function issueOfPattern(pattern: string): string | undefined {
  if (/\*{3}/.test(pattern)) return 'must not have more than two * in a row'
  if ((pattern.match(/\*+/g) ?? []).length > WILDCARDS_LIMIT) return `must have at most ${WILDCARDS_LIMIT} wildcards`
  return pattern.startsWith('refs/') ? 'must be the name of a branch without refs/heads/' : undefined
}
