/**
 * What agents' machines could read of their sessions, and what they could not: what is missing is reported, and never
 * shown as zero. A machine belongs to the creator of the token that it reports with.
 */
import type { Party } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { validationFailed } from '../../errors.ts'
import { dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { foldEmail } from '../../schema/fields.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { type QueryTexts, writeKeyPage } from '../../schema/query.ts'
import type { OrganizationService } from '../organization/service.ts'
import { createLimits } from './limits.ts'
import { type LimitsQuery, readLimitsQuery } from './query.ts'
import { type AgentStatus, type AgentStatusReport, agentStatusBody } from './schema.ts'
import {
  type AgentStatusFilter,
  countAgentStatuses,
  deleteOldest,
  deleteReportedBefore,
  listAgentStatuses,
  lockOwner,
  saveAgentStatuses,
} from './store.ts'

export type AgentStatusService = ReturnType<typeof createAgentStatusService>

/** More agents than anyone has on all their machines, and few enough that nobody fills the table. */
const STATUSES_LIMIT = 200

const DAY_MS = 86_400_000

/** A machine that has been silent for as long is gone. What it could not read may never be read. */
const SILENCE_LIMIT_MS = 90 * DAY_MS

type Asked = Omit<AgentStatusFilter, 'ownerId'>

interface Dependencies {
  db: Database
  clock: Clock
  organization: Pick<OrganizationService, 'settings'>
}

export function createAgentStatusService(dependencies: Dependencies) {
  const { db, clock } = dependencies
  const limits = createLimits(dependencies)
  /** Who sees whose: everyone their own, admins and the command line those of everyone. */
  const scopeOf = ({ person }: Pick<Party, 'person'>) => (person === null || person.role === 'admin' ? null : person.id)

  const sweep = () =>
    db.write(async (tx) => {
      await deleteReportedBefore(tx, clock.now() - SILENCE_LIMIT_MS)
      await limits.sweep(tx)
    })

  return {
    /** Replaces what the machine reported of these agents before. Throws `validation_failed` for an agent that occurs twice. */
    async report(userId: number, { machine, tally_version: tallyVersion, agents }: AgentStatusReport): Promise<void> {
      const rows = agents.map(({ agent_harness: harness, version, sessions, not_read: notRead }) => ({
        ...{ userId, machine, harness, version, tallyVersion, sessions, notRead },
        readsAll: notRead.length === 0,
        reportedAt: clock.now(),
      }))
      const repeated = rows.findIndex(({ harness }, at) =>
        rows.some((row, index) => index < at && row.harness === harness),
      )
      if (repeated >= 0) {
        const pointer = `/agents/${repeated}/agent_harness`
        throw validationFailed([{ pointer, code: 'not_allowed', message: 'occurs twice' }])
      }
      // Where no sessions are read, as by `tally agents limits`, there is nothing to say of them.
      const hasLimitsAlone = (harness: string) =>
        agents.some(
          ({ agent_harness, sessions, not_read, limits = [] }) =>
            agent_harness === harness && sessions === 0 && not_read.length === 0 && limits.length > 0,
        )
      await db.write(async (tx) => {
        if (!(await lockOwner(tx, userId))) return
        await saveAgentStatuses(
          tx,
          rows.filter(({ harness }) => !hasLimitsAlone(harness)),
        )
        await deleteOldest(tx, userId, STATUSES_LIMIT)
        await limits.record(tx, userId, agents)
      })
    },

    /** A page of what the caller may see. */
    async list(
      party: Pick<Party, 'person'>,
      { users, readsAll }: Asked,
      { after, limit }: { after: number | undefined; limit: number },
    ): Promise<Page<AgentStatus>> {
      const filter = { ownerId: scopeOf(party), users: users?.map(foldEmail), readsAll }
      const found = await listAgentStatuses(db.read, filter, { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ id }) => writeKeyPage(id))
      return { ...page, data: page.data.map(agentStatusBody) }
    },

    /** How much of the limits of their plans people use, as far as the viewer sees it. */
    limits: limits.report,

    /** Throws 422 with every issue. */
    readLimitsQuery: async (texts: QueryTexts): Promise<LimitsQuery> =>
      readLimitsQuery(texts, dayAt(clock.now(), (await dependencies.organization.settings()).timeZone)),

    /** How many agents of a person, or of everyone for null, have something that could not be read. */
    countUnread: (ownerId: number | null): Promise<number> => countAgentStatuses(db.read, { ownerId, readsAll: false }),

    jobs: [
      new Job({
        name: 'agent-status-cleanup',
        task: 'forget machines that no longer report, and old readings of limits',
        everyMs: DAY_MS,
        run: sweep,
      }),
    ],
  }
}
