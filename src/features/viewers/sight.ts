/** What the grants of a viewer show, project by project. Pure. */
import type { Grant, GrantExtent } from '../people/service.ts'
import type { ReachedProject } from './store.ts'

/** A project that a viewer sees, and how much of it. */
export interface SeenProject extends ReachedProject, Pick<GrantExtent, 'money' | 'showsPeople'> {
  /** Whether the viewer may know which client it is of: that was granted, too. */
  showsClient: boolean
}

export interface Sight {
  grants: readonly Grant[]
  projects: readonly SeenProject[]
  /** Clients whose bills are shown. */
  billedClientIds: readonly number[]
}

/** The grant of a project counts instead of that of its client. */
export function sightOf(grants: readonly Grant[], reached: readonly ReachedProject[]): Sight {
  const byProject = new Map(grants.flatMap((grant) => (grant.project ? [[grant.project.id, grant] as const] : [])))
  const byClient = new Map(grants.flatMap((grant) => (grant.client ? [[grant.client.id, grant] as const] : [])))
  return {
    grants,
    projects: reached.flatMap((project) => {
      const ofClient = project.client ? byClient.get(project.client.id) : undefined
      const grant = byProject.get(project.id) ?? ofClient
      if (!grant) return []
      const { money, showsPeople } = grant
      return [{ ...project, money, showsPeople, showsClient: ofClient !== undefined }]
    }),
    billedClientIds: grants.flatMap(({ client, showsBills }) => (client && showsBills ? [client.id] : [])),
  }
}
