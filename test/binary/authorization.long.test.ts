/** Who may call what: every operation of the executable with every credential. */
import { join } from 'node:path'
import { PASSWORD, testAccess } from '../support/access-matrix.ts'
import { Installation } from '../support/binary.ts'
import { newMigrated, testEngine } from '../support/databases.ts'

testAccess(async () => {
  const cleanUps: (() => Promise<void>)[] = []
  const { databaseUrl } = testEngine === 'postgres' ? await newMigrated(testEngine, cleanUps) : {}
  const tally = await Installation.brief({ variables: databaseUrl ? { TALLY_DATABASE_URL: databaseUrl } : {} })
  const server = await tally.serve(['--trusted-proxies', '127.0.0.1'])

  /** A command line that is to succeed. */
  async function run(args: string[], input = ''): Promise<void> {
    const { code, stderr } = await tally.run(args, input)
    if (code !== 0) throw new Error(`tally ${args.join(' ')} ended with ${code}: ${stderr}`)
  }

  return {
    url: server.url,
    location: { dataDir: join(tally.folder, 'tally-data'), databaseUrl },
    addPerson: ({ email, name, role }) =>
      run(['users', 'add', '--email', email, '--name', name, '--role', role, '--password-stdin'], PASSWORD),
    disable: (email) => run(['users', 'disable', email]),
    setRole: (email, role) => run(['users', 'set-role', email, role]),
    createToken: (kind, email) => tally.createToken(kind, email),
    revokeToken: (id) => run(['tokens', 'revoke', id, '--yes']),
    async close() {
      await server.crash()
      await tally.remove()
      for (const step of cleanUps) await step()
    },
  }
}, 'every operation')
