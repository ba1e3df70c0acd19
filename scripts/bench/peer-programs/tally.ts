/** Tally on a new database, for a round of a comparison. */
import { cleanedUp } from '../clean-up.ts'
import type { Engine } from '../reporting/databases.ts'
import { TallyServers } from '../reporting/servers.ts'
import { batch, type LoadShape, measure, single, type Throughput, untilIdle } from '../reporting/throughput.ts'
import type { Context } from './peer.ts'

export const CONNECTIONS = 64

/** After so many, Bun has compiled the hot paths; a busy machine takes longer for them than a time would allow. */
const WARM_UP = { entries: 10_000, seconds: 30 }

/** The load that all programs get. */
export const singles = ({ seconds }: Context): LoadShape => ({ ...single, connections: CONNECTIONS, seconds })

export const batches = ({ seconds }: Context): LoadShape => ({ ...batch, seconds })

export async function startTally({ folder }: Context, engine: Engine, stack: AsyncDisposableStack) {
  const database = await engine.create(stack)
  const servers = await TallyServers.install({ parent: folder, database, count: 1 }, stack)
  const token = await servers.createToken()
  await servers.start()
  return { servers, token }
}

export function warmUp(servers: TallyServers, engine: Engine, token: string, load: LoadShape): Promise<Throughput> {
  return measure(servers, engine, token, { ...load, ...WARM_UP })
}

/** A load on a new database, with everything that follows from it. */
export function reportToTally(context: Context, engine: Engine, load: LoadShape): Promise<Throughput> {
  return cleanedUp(context.stack, async (stack) => {
    const { servers, token } = await startTally(context, engine, stack)
    await warmUp(servers, engine, token, load)
    await untilIdle(servers)
    return measure(servers, engine, token, load, { includesLaterWork: true })
  })
}
