/**
 * The primary of a PostgreSQL cluster is killed under load, and its synchronous replica promoted. Tally has both in its
 * URL. Then the old primary is made a replica of the new one, and so on.
 */
import { rmSync } from 'node:fs'
import type { Server } from '../../test/support/binary.ts'
import { postgresPrograms } from '../../test/support/postgres-programs.ts'
import { checkPostgres, Member, makeMembersFolder } from './postgres-member.ts'
import { installed, Reporters, refusalsOf, type Scenario } from './scenario.ts'

const ROUNDS = { short: 1, long: 10 }

/** Clients get 503 for longer than this only if a cluster has no primary. */
const PATIENCE_MS = 60_000

export const failover: Scenario = {
  name: 'primary of PostgreSQL killed, replica promoted',
  missingRequirement: () => (postgresPrograms() ? undefined : 'PostgreSQL is not installed'),
  async run(size) {
    const folder = makeMembersFolder()
    const members = [new Member(folder, 'one'), new Member(folder, 'two')] as const
    const TALLY_DATABASE_URL = `postgres://tally@${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`
    const installation = await installed(size, { variables: { TALLY_DATABASE_URL } })
    let server: Server | undefined
    try {
      await members[0].create()
      await members[1].follow(members[0])
      await installation.addUser('ada@example.com', 'admin')
      const { token } = await installation.createToken('svc', 'ada@example.com')
      server = await installation.serve()
      const reporters = new Reporters({ server, token }, 'failover')
      const readyMs: number[] = []
      let [primary, replica] = members as readonly [Member, Member]
      for (let round = 0; round < ROUNDS[size]; round += 1) {
        await reporters.untilMore(200)
        await primary.crash()
        await replica.promote()
        const promoted = performance.now()
        await reporters.untilMore(20, PATIENCE_MS)
        readyMs.push(performance.now() - promoted)
        await primary.follow(replica)
        ;[primary, replica] = [replica, primary]
      }
      await reporters.untilMore(200)
      await reporters.stop()
      await server.stop()
      return {
        rounds: ROUNDS[size],
        ...(await checkPostgres(primary.url, reporters)),
        readyMs,
        remark: refusalsOf(reporters),
      }
    } finally {
      await server?.crash()
      for (const member of members) await member.crash()
      await installation.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
