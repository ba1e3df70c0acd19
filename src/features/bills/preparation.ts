/** What precedes sending a bill: the terms that it usually has, and its preview. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseRawJson } from '../../lib/exact-json.ts'
import type { ProjectsService } from '../projects/service.ts'
import { type Compose, partiesOf } from './composition.ts'
import type { BillDocument, BillRequest, UsualTerms } from './schema.ts'
import { getIssuer } from './store/issuer.ts'
import { listLastBills } from './store/run.ts'
import { usualTerms } from './usual-terms.ts'

interface BillPreviewed {
  digest: string
  /** Whether nothing can be recorded for today or later in the period. */
  period_is_over: boolean
  document: BillDocument
}

interface Dependencies {
  db: Database
  clock: Clock
  projects: Pick<ProjectsService, 'getClient' | 'requireKnown' | 'showProject'>
  compose: Compose
}

export function createPreparation({ db, clock, projects, compose }: Dependencies) {
  return {
    /** The document that would be sent now, and a digest of it and its entries. */
    async preview(body: BillRequest): Promise<BillPreviewed> {
      const { digest, documentText, heading } = await compose(body, { now: clock.now(), isEmptyFine: true })
      return {
        digest,
        period_is_over: heading.period.to < heading.issued_on,
        document: parseRawJson(documentText) as BillDocument,
      }
    },

    /** The terms with which a client or project is usually billed. Throws `validation_failed` if it does not exist. */
    async usualTerms(of: { client: string } | { project: string }): Promise<UsualTerms> {
      const [kind, name] = 'client' in of ? (['client', of.client] as const) : (['project', of.project] as const)
      await projects.requireKnown(kind, [name], `/query/${kind}`)
      const { client, project } = await partiesOf(projects, of)
      const [owner, id] = client ? (['clientId', client.id] as const) : (['projectId', project!.project.id] as const)
      const { currency, costBasis } = await getIssuer(db.read)
      const last = (await listLastBills(db.read, owner, id)).get(id)
      return usualTerms(client?.currency ?? currency, client, last, costBasis)
    },
  }
}
