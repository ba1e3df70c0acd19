/** Every feature's routes on one screen. Never listens: `tally serve` and the tests do. */
import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { entriesRoutes } from './features/entries/routes.ts'
import { requests } from './http/requests.ts'
import type { Services } from './services.ts'

export interface AppOptions {
  services: Services
  logger: Logger
}

export const createApp = ({ services, logger }: AppOptions) =>
  new Elysia({ name: 'tally', normalize: false })
    .use(requests({ people: services.people, logger }))
    .use(entriesRoutes(services))

export type App = ReturnType<typeof createApp>
