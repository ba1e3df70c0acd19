/**
 * Trusts: which jobs of GitHub Actions and GitLab CI/CD can exchange their ID token for short-lived tokens, without a secret
 * that somebody has to keep (docs/design/api.md, "Tokens of trusts").
 */
import type { Actor } from '../../access/actor.ts'
import type { Database, Reader } from '../../database/database.ts'
import { type Issue, notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { isId } from '../../lib/id.ts'
import { Job } from '../../lib/jobs.ts'
import { isSafeAddress } from '../../lib/outgoing/safe-address.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { writeKeyPage } from '../../schema/query.ts'
import type { AuditService } from '../audit/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService, TrustTokenKind } from '../people/service.ts'
import { type ProjectsService, projectReference } from '../projects/service.ts'
import { compared, ISSUERS, isFor, issueOfPattern, type Run, refused, runOf } from './claims.ts'
import { readIdToken, type VerifiedToken, verified } from './id-token.ts'
import { createIssuerKeys, type IssuerKeys } from './issuer.ts'
import {
  type ExchangedTokens,
  MINUTES,
  type NewTrust,
  type TrustBody,
  type TrustChange,
  type TrustTestResult,
  trustBody,
} from './schema.ts'
import {
  findTrust,
  insertTrust,
  listTrusts,
  listTrustsOfIssuer,
  type TrustView,
  updateTrust,
  updateTrustUsed,
} from './store.ts'

const MINUTE_MS = 60_000

/** More than anyone needs, and few enough that all of an issuer are read for each exchange. */
const TRUSTS_LIMIT = 500

/** Secrets that are no longer valid do no harm. */
const FORGET_MS = 3_600_000

export type TrustsService = ReturnType<typeof createTrustsService>

/** Tokens for a job, and what is logged of it. */
export interface Exchanged {
  body: ExchangedTokens
  trust: TrustBody['id']
  run: Run
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  organization: Pick<OrganizationService, 'publicUrl'>
  people: Pick<
    PeopleService,
    'getUser' | 'addTokensOfTrust' | 'revokeTokensOfTrust' | 'usableTokensOfTrust' | 'addSecret' | 'forgetSecrets'
  >
  projects: Pick<ProjectsService, 'findProjectNamed'>
  /** Replaces the keys that issuers publish. */
  issuerKeys?: IssuerKeys | undefined
}

export function createTrustsService({
  db,
  clock,
  audit,
  organization,
  people,
  projects,
  issuerKeys: { keysOf } = createIssuerKeys(clock),
}: Dependencies) {
  async function get(reader: Reader, uid: string): Promise<TrustView> {
    const found = isId('tru', uid) ? await findTrust(reader, uid) : undefined
    if (!found) throw notFound(`The trust '${uid}'`)
    return found
  }

  /** The project that a trust is limited to. Throws 422. */
  async function projectOf(reader: Reader, name: string) {
    const found = await projects.findProjectNamed(reader, name)
    if (!found) throw refusal('/project', 'unknown_name', 'must be the id, key, name or alias of a project')
    const { project, mergedInto } = found
    if (mergedInto) throw refusal('/project', 'not_allowed', `was merged into ${mergedInto.key}; use that project`)
    if (project.archivedAt !== null) throw refusal('/project', 'not_allowed', `${project.key} is archived`)
    return project
  }

  async function personOf(user: string) {
    const found = await people.getUser(user).catch((error) => {
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error
      throw refusal('/user', 'unknown_name', 'must be the id or e-mail address of a person')
    })
    const { role, disabledAt, email } = found
    if (disabledAt !== null) throw refusal('/user', 'not_allowed', `${email} is disabled`)
    if (role !== 'member') {
      const message = 'must have the role member, which limits what jobs can do: add a person such as ci@example.com'
      throw refusal('/user', 'not_allowed', message)
    }
    return found
  }

  async function verify(text: string): Promise<{ token: VerifiedToken; run: Run; trusts: TrustView[] }> {
    // Never taken from the request.
    const audience = await organization.publicUrl()
    if (audience === undefined) {
      throw refused('This server has no public URL to be the audience (`aud`) of ID tokens. Set it in the settings.')
    }
    const read = readIdToken(text)
    const trusts = await listTrustsOfIssuer(db.read, read.issuer)
    const [first] = trusts
    if (!first) throw refused('No trust names the issuer of this ID token. An admin can add one: `tally trusts add`.')
    const token = await verified(read, { keysOf, audience, now: clock.now() })
    return { token, run: runOf(first.record.provider, token.claims), trusts }
  }

  const forgetExchanged = () => db.write((tx) => people.forgetSecrets(tx, clock.now()))

  return {
    /** Of all, newest first. */
    async listTrusts({ after, limit }: { after: number | undefined; limit: number }): Promise<Page<TrustBody>> {
      const found = await listTrusts(db.read, { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ record }) => writeKeyPage(record.id))
      return { ...page, data: page.data.map(trustBody) }
    },

    getTrust: async (uid: string): Promise<TrustBody> => trustBody(await get(db.read, uid)),

    /** Throws `validation_failed`. */
    async addTrust(given: NewTrust, by: Actor): Promise<TrustBody> {
      const { provider, issuer = ISSUERS[provider], minutes = MINUTES.usual } = given
      if ((await organization.publicUrl()) === undefined) {
        throw refusal(
          '',
          'not_configured',
          'needs the public URL of this server as the audience of ID tokens: set it first',
        )
      }
      const issues = [...issuesOfIssuer(issuer), ...issuesOfBranches(given.branches)]
      if (issues.length > 0) throw validationFailed(issues)
      const user = await personOf(given.user)
      return db.write(async (tx) => {
        const project = await projectOf(tx, given.project)
        const now = clock.now()
        const sameIssuer = await listTrustsOfIssuer(tx, issuer)
        if (sameIssuer.some(({ record }) => record.provider !== provider)) {
          throw refusal('/issuer', 'not_allowed', 'belongs to the other provider in existing trusts')
        }
        if (sameIssuer.length >= TRUSTS_LIMIT)
          throw refusal('/issuer', 'too_many', `has ${TRUSTS_LIMIT} trusts already`)
        const added = await insertTrust(tx, {
          provider,
          issuer,
          repositoryId: given.repository_id,
          repository: given.repository,
          branches: given.branches ?? [],
          pullRequests: given.pull_requests ?? false,
          environment: given.environment ?? null,
          userId: user.id,
          projectId: project.id,
          minutes,
          createdAt: now,
        })
        const { id } = added.record
        await people.addTokensOfTrust(tx, { id, userId: user.id, name: given.repository }, now)
        await audit.record(tx, by, { action: 'trust.added', object: objectOf(added), after: audited(added) })
        return trustBody(added)
      })
    },

    /** Throws `not_found`, `validation_failed` and `changed_meanwhile`. */
    changeTrust: (uid: string, given: TrustChange, by: Actor): Promise<TrustBody> =>
      db.write(async (tx) => {
        const before = await get(tx, uid)
        const issues = issuesOfBranches(given.branches)
        if (issues.length > 0) throw validationFailed(issues)
        const { repository, branches, pull_requests: pullRequests, environment, minutes, project } = given
        const projectId = project === undefined ? undefined : (await projectOf(tx, project)).id
        const changed = defined({ repository, branches, pullRequests, environment, minutes, projectId })
        if (Object.keys(changed).length > 0) await updateTrust(tx, before.record.id, changed)
        const after = await get(tx, uid)
        const [was, is] = [audited(before), audited(after)]
        if (Bun.deepEquals(was, is)) return trustBody(after)
        await audit.record(tx, by, { action: 'trust.changed', object: objectOf(after), before: was, after: is })
        return trustBody(after)
      }),

    /** Takes effect at once, also on tokens that jobs have. Throws `not_found` and `changed_meanwhile`. */
    removeTrust: (uid: string, by: Actor): Promise<void> =>
      db.write(async (tx) => {
        const found = await get(tx, uid)
        const now = clock.now()
        await updateTrust(tx, found.record.id, { removedAt: now })
        await people.revokeTokensOfTrust(tx, found.record.id, now)
        await audit.record(tx, by, { action: 'trust.removed', object: objectOf(found), before: audited(found) })
      }),

    /**
     * Exchanges an ID token for tokens of the oldest trust that is for its run; each kind once. Throws `id_token_refused` and
     * `issuer_unreachable`.
     */
    async exchange(text: string, kinds: readonly TrustTokenKind[]): Promise<Exchanged> {
      const { token, run, trusts } = await verify(text)
      const matching = trusts.find(({ record }) => isFor(record, run))
      if (!matching) throw noTrust(run)
      const body = await db.write(async (tx) => {
        const now = clock.now()
        // Read again inside the transaction: it may have been changed or removed meanwhile.
        const trust = await findTrust(tx, matching.record.uid)
        if (!trust || !isFor(trust.record, run)) throw noTrust(run)
        const { record, project } = trust
        if (project.archivedAt !== null) throw refused(`The project ${project.key} of the trust is archived.`)
        const usable = await people.usableTokensOfTrust(tx, record.id, now)
        const expiresAt = now + record.minutes * MINUTE_MS
        const times = {
          assertion: Bun.SHA256.hash(`${record.issuer}\n${token.id}`) as Uint8Array,
          createdAt: now,
          expiresAt,
          forgottenAt: Math.max(expiresAt, token.expiresAt),
        }
        const data: ExchangedTokens['data'] = []
        for (const kind of kinds) {
          const of = usable.find((each) => each.kind === kind)
          if (!of) throw refused('The person of the trust is disabled.')
          const secret = await people.addSecret(tx, of, times)
          if (secret === undefined) throw usedBefore(kind)
          data.push({
            kind,
            token: secret,
            expires_at: new Date(expiresAt).toISOString(),
            project: projectReference(project),
            trust: record.uid,
          })
        }
        await updateTrustUsed(tx, record.id, now)
        return { data }
      })
      return { body, trust: matching.record.uid, run }
    },

    /** What {@link exchange} would do with an ID token, and why. Throws as it does, but for what trusts require. */
    async testIdToken(text: string): Promise<TrustTestResult> {
      const { run, trusts } = await verify(text)
      return {
        trust: trusts.find(({ record }) => isFor(record, run))?.record.uid ?? null,
        comparisons: trusts.flatMap(({ record }) =>
          compared(record, run).map(({ claim, run: token, trust: required, matches }) => ({
            trust: record.uid,
            claim,
            token,
            required,
            matches,
          })),
        ),
      }
    },

    /** What the job does: neither the secrets nor their ID tokens are valid any more. */
    forgetExchanged,

    jobs: [
      new Job({
        name: 'exchanged-tokens',
        task: 'forget tokens of jobs that have expired',
        everyMs: FORGET_MS,
        run: forgetExchanged,
      }),
    ],
  }
}

function issuesOfIssuer(issuer: string): Issue[] {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  const isPlain = url && url.username === '' && url.search === '' && url.hash === '' && !issuer.endsWith('/')
  if (isPlain && isSafeAddress(issuer)) return []
  const message = 'must be an https:// address (http:// only on this machine) without a trailing slash'
  return [{ pointer: '/issuer', code: 'bad_format', message }]
}

function issuesOfBranches(branches: readonly string[] = []): Issue[] {
  return branches.flatMap((pattern, index) => {
    const message = issueOfPattern(pattern)
    return message === undefined ? [] : [{ pointer: `/branches/${index}`, code: 'bad_format', message }]
  })
}

const objectOf = ({ record }: TrustView) => ({ id: record.uid, name: record.repository })

function audited({ record, user, project }: TrustView) {
  return {
    provider: record.provider,
    issuer: record.issuer,
    repository: record.repository,
    repository_id: record.repositoryId,
    branches: record.branches,
    pull_requests: record.pullRequests,
    environment: record.environment,
    user: user.email,
    project: project.key,
    minutes: record.minutes,
  }
}

function noTrust({ repository, repositoryId, branch, isPullRequest, environment }: Run): Problem {
  const of = isPullRequest ? 'a pull request' : branch === null ? 'a tag' : `the branch ${branch}`
  const within = environment === null ? 'no environment' : `the environment ${environment}`
  return refused(
    `No trust matches ${repository} (${repositoryId}), ${of}, ${within}. An admin can compare them: \`tally trusts test\`.`,
  )
}

const usedBefore = (kind: TrustTokenKind) =>
  refused(`This ID token was already exchanged for a ${kind} token. Use that token, or request a new ID token.`)
