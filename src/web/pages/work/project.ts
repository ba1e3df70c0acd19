import type { api, Body } from '../../server/api.ts'

export type Project = Body<Awaited<ReturnType<typeof api.projects.get>>>['data'][number]
export type Client = Body<Awaited<ReturnType<typeof api.clients.get>>>['data'][number]
export type Ticket = Body<Awaited<ReturnType<typeof api.tickets.get>>>['data'][number]
