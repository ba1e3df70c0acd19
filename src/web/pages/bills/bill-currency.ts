import { useQuery } from '@tanstack/react-query'
import { answer, apiUntil } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import type { BillValues } from './new-bill-values.ts'

/** The currency of a bill, in the API's order: the chosen one, the client's, the organization's. */
export function useBillCurrency({ currency, scope, client, project }: BillValues): string | undefined {
  const usual = useSettings().currency
  const whose = scope === 'client' ? client?.value : scope === 'project' ? project?.value : undefined
  const { data, isError } = useQuery({
    queryKey: ['clients', 'currency', scope, whose],
    queryFn: ({ signal }) => askCurrency(scope, whose!, signal),
    enabled: currency === null && whose !== undefined,
  })
  if (currency !== null) return currency
  // If the client is not found, the preview shows the error.
  if (scope === 'everything' || isError) return usual
  return data === undefined ? undefined : (data.currency ?? usual)
}

/** A project uses the currency of its client. */
async function askCurrency(scope: BillValues['scope'], id: string, signal: AbortSignal) {
  const api = apiUntil(signal)
  const clientId = scope === 'client' ? id : (await answer(api.projects({ id }).get())).client?.id
  if (clientId === undefined) return { currency: null }
  return { currency: (await answer(api.clients({ id: clientId }).get())).currency ?? null }
}
