/** The repositories of the projects that the person leads. */
import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'

/** More projects than anyone leads; the API's page limit. */
const LED_LIMIT = '1000'

export interface LedProject {
  id: string
  key: string
  name: string
}

/** The led projects that have each repository; undefined until they are known, or if the person leads none. */
export function useLedRepositories(): Map<string, LedProject[]> | undefined {
  const { person, leads } = useMe()
  const { data } = useQuery({
    ...apiQuery(['projects', 'led', person.id], (api) =>
      api.projects.get({ query: { lead: [person.id], limit: LED_LIMIT, archived: 'false' } }),
    ),
    enabled: leads,
  })
  if (!data) return undefined
  const found = new Map<string, LedProject[]>()
  for (const { id, key, name, repositories = [] } of data.data) {
    for (const repository of repositories) {
      found.set(repository, [...(found.get(repository) ?? []), { id, key, name }])
    }
  }
  return found
}
