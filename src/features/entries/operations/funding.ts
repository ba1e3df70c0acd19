/** What a change of funding rules would do to entries that exist. */
import { operation, result } from '../../../operations/operation.ts'
import { EXAMPLE_FUNDING_PREVIEW, EXAMPLE_FUNDING_PREVIEW_REQUEST } from '../../funding/examples.ts'
import { FundingPreviewBody, FundingPreviewRequest } from '../../funding/schema.ts'
import { changeToPreview, type FundingService } from '../../funding/service.ts'
import { previewBody } from '../funding/wire.ts'
import type { EntriesService } from '../service.ts'

interface Needs {
  entries: EntriesService
  funding: FundingService
}

export const previewFundingRules = operation({
  id: 'previewFundingRules',
  tag: 'Plans',
  method: 'POST',
  path: '/funding-rules/preview',
  summary: 'Preview a change of the funding rules',
  description:
    'Counts the entries that would be paid for otherwise, of all of them or as many of the newest as five seconds allow. Writes nothing.',
  allow: { session: ['billing', 'admin'] },
  scope: 'plans:write',
  body: FundingPreviewRequest,
  example: EXAMPLE_FUNDING_PREVIEW_REQUEST,
  answer: result('What would change.', FundingPreviewBody, EXAMPLE_FUNDING_PREVIEW),
  problems: ['already_exists', 'not_found', 'rules_changed', 'database_deadline'],
  run: async ({ entries, funding }: Needs, { party, body }) =>
    previewBody(await entries.funding.preview(changeToPreview(funding, party.by, body))),
})

export const fundingEffectOperations = [previewFundingRules] as const
