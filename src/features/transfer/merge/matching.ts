/** The people, projects and tickets of a file as those of the database in use: found by e-mail, key or name, or added. */
import type { Party } from '../../../access/actor.ts'
import type { Database } from '../../../database/database.ts'
import { Problem } from '../../../errors.ts'
import type { PeopleService } from '../../people/service.ts'
import type { ProjectsService } from '../../projects/service.ts'
import type { MergeContext } from './context.ts'

export interface MatchingServices {
  db: Database
  people: Pick<PeopleService, 'findUser' | 'findPersonByEmail' | 'addUser' | 'disableUser'>
  projects: Pick<
    ProjectsService,
    'findProjectNamed' | 'getProject' | 'showTicket' | 'getClient' | 'addClient' | 'addProject' | 'addNewTicket'
  >
}

/** The project of a place here, with the project that a ticket belongs to by decision. */
export interface TicketHere {
  id: number
  projectId: number | null
}

/** What a merge adds besides entries, or would add. */
export interface Added {
  people: string[]
  clients: string[]
  projects: string[]
  tickets: string[]
}

export class Matching {
  readonly added: Added = { people: [], clients: [], projects: [], tickets: [] }
  readonly #people = new Map<string, number | undefined>()
  readonly #projects = new Map<string, number | undefined>()
  readonly #tickets = new Map<string, TicketHere | undefined>()
  readonly #clients = new Set<string>()

  constructor(
    readonly services: MatchingServices,
    readonly context: MergeContext,
    readonly unknownProjects: 'create' | 'hold',
  ) {}

  readonly personKey = (id: string): number | undefined => this.#people.get(id)
  readonly projectKey = (id: string): number | undefined => this.#projects.get(id)
  readonly ticket = (id: string): TicketHere | undefined => this.#tickets.get(id)

  /** Finds all people of the file: by id in a copy of this database, where somebody else may have the address by now. */
  async findPeople(): Promise<void> {
    const { people } = this.services
    for (const [id, { line }] of this.context.people) {
      const found =
        (await people.findUser(id)) ?? (await people.findPersonByEmail(this.services.db.read, line.email as string))
      this.#people.set(id, found?.id)
    }
  }

  /** Adds a person who is missing, without a password. */
  async wantPerson(id: string, by: Party | undefined): Promise<void> {
    if (this.#people.get(id) !== undefined) return
    const { line } = required(this.context.people, id)
    const email = line.email as string
    if (this.added.people.includes(email)) return
    this.added.people.push(email)
    if (!by) return
    const { people } = this.services
    const user = await people.addUser({ email, name: line.name as string, role: 'member' }, by.by)
    if (line.disabled_at !== null) await people.disableUser(user.uid, by.by)
    this.#people.set(id, user.id)
  }

  async wantProject(id: string, by: Party | undefined): Promise<void> {
    if (this.#projects.get(id) !== undefined) return
    const { line } = required(this.context.projects, id)
    const { db, projects } = this.services
    const { key, name } = line as { key: string; name: string }
    const found = (await projects.findProjectNamed(db.read, key)) ?? (await projects.findProjectNamed(db.read, name))
    if (found) {
      // Or the project that it was merged into.
      this.#projects.set(id, (await projects.getProject(db.read, found.project.id)).id)
      return
    }
    if (this.unknownProjects === 'hold' || this.added.projects.includes(key)) return
    const client = line.client === null ? null : await this.#wantClient(line.client as string, by)
    this.added.projects.push(key)
    if (!by) return
    const added = await projects.addProject(by, { key, name, client, billable: line.billable as boolean })
    this.#projects.set(id, added.project.id)
  }

  async wantTicket(id: string, by: Party | undefined): Promise<void> {
    if (this.#tickets.get(id) !== undefined) return
    const { line } = required(this.context.tickets, id)
    const key = line.key as string
    const { projects } = this.services
    const found = await unlessMissing(projects.showTicket(key))
    if (found) {
      this.#tickets.set(id, found.ticket)
      return
    }
    if (this.unknownProjects === 'hold' || this.added.tickets.includes(key)) return
    const project = line.project as string | null
    if (project !== null) await this.wantProject(project, by)
    this.added.tickets.push(key)
    if (!by) return
    const projectKey = project === null ? undefined : this.projectKey(project)
    const there = projectKey === undefined ? null : (await projects.getProject(this.services.db.read, projectKey)).uid
    const { ticket } = await projects.addNewTicket(by, { key, title: line.title as string | null, project: there })
    this.#tickets.set(id, ticket)
  }

  /** The name of the client. */
  async #wantClient(id: string, by: Party | undefined): Promise<string> {
    const { line } = required(this.context.clients, id)
    const name = line.name as string
    if (this.#clients.has(name) || (await unlessMissing(this.services.projects.getClient(name)))) return name
    this.#clients.add(name)
    this.added.clients.push(name)
    if (by) await this.services.projects.addClient(by, { name })
    return name
  }
}

function required<Value>(lines: Map<string, Value>, id: string): Value {
  const line = lines.get(id)
  if (line) return line
  throw new Problem('validation_failed', `The file refers to ${id}, but has no line for it. Create it again.`)
}

async function unlessMissing<Value>(found: Promise<Value>): Promise<Value | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  }
}
