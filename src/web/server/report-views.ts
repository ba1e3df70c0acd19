/** Saved views of reports. */
import { queryOptions } from '@tanstack/react-query'
import { answer, api, apiUntil, type Body } from './api.ts'
import { useSend } from './send.ts'

type NewView = NonNullable<Parameters<(typeof api)['report-views']['post']>[0]>
type ViewChange = NonNullable<Parameters<ReturnType<(typeof api)['report-views']>['patch']>[0]>
export type ReportView = Body<Awaited<ReturnType<(typeof api)['report-views']['get']>>>['data'][number]

/** The most that a menu offers; the API has more pages. */
const LISTED = '200'

export const reportViewsQuery = queryOptions({
  queryKey: ['report-views'],
  queryFn: async ({ signal }) =>
    (await answer(apiUntil(signal)['report-views'].get({ query: { limit: LISTED } }))).data,
})

const changes = ['report-views'] as const

/** The dialog shows any error. */
export const useSaveView = (after: (view: ReportView) => void) =>
  useSend({
    send: (view: NewView): Promise<ReportView> => answer(api['report-views'].post(view)),
    changes,
    done: ({ name }) => `View ${name} saved.`,
    after,
    quiet: true,
  })

export const useChangeView = (after: () => void) =>
  useSend({
    send: ({ id, ...change }: ViewChange & { id: string }): Promise<ReportView> =>
      answer(api['report-views']({ id }).patch(change)),
    changes,
    done: ({ name }) => `View ${name} changed.`,
    after,
  })

export const useRemoveView = (after: () => void) =>
  useSend({
    send: ({ id }: ReportView) => answer(api['report-views']({ id }).delete()),
    changes,
    done: (_, { name }) => `View ${name} deleted.`,
    after,
  })
