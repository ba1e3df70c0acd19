/** The first request of a report, sent before the page is rendered. */
import { readAddress } from '../../address.ts'
import { usageQuery } from '../../parts/usage/usage.ts'
import type { Me } from '../../server/me.ts'
import { queryClient } from '../../server/queries.ts'
import { REPORTS_ADDRESS } from './address.ts'
import { groupsQuestion, questionOf } from './question.ts'

export function askReports(me: Me, search: string): void {
  const question = questionOf(readAddress(search, REPORTS_ADDRESS), me)
  void queryClient.prefetchQuery(usageQuery(groupsQuestion(question)))
}
