/** Shown while the totals that reports read are being made, as after an upgrade. Until then reports are slower. */
import { type Query, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Caption } from '../parts/texts.tsx'
import { apiQuery } from '../server/api.ts'
import { queryClient } from '../server/queries.ts'

/** Refresh interval while totals are being made. */
const EVERY_MS = 3_000

/** How long totals count as complete: a new time zone is the only thing that changes it without an upgrade. */
const COMPLETE_MS = 300_000

/** From here on it is days that changed, whose totals are made again within seconds. */
const NEARLY = 99

const isFailedReport = ({ queryKey, state }: Query) => queryKey[0] === 'reports' && state.status === 'error'

export function PreparingReports() {
  const { data } = useQuery({
    ...apiQuery(['reports', 'progress'], (api) => api.reports.sums.get()),
    refetchInterval: ({ state }) => (state.data?.complete === false ? EVERY_MS : false),
    staleTime: ({ state }) => (state.data?.complete ? COMPLETE_MS : 0),
  })
  const isPreparing = data !== undefined && !data.complete && (data.percent ?? 0) < NEARLY
  const wasPreparing = useRef(false)
  useEffect(() => {
    // Reports that took too long do not, now.
    if (wasPreparing.current && !isPreparing) void queryClient.refetchQueries({ predicate: isFailedReport })
    wasPreparing.current = isPreparing
  }, [isPreparing])
  if (!isPreparing) return null
  return (
    <Caption
      truncate
      role="progressbar"
      aria-label="Preparing reports"
      aria-valuenow={data.percent ?? undefined}
      title="Totals for reports are being prepared. Reports are complete, but slower until then."
    >
      Preparing reports{data.percent === null ? '' : `, ${data.percent}%`}
    </Caption>
  )
}
