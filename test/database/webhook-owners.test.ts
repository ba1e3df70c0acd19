/** Migration 49 gives existing webhooks the owner that the audit log names. */
import { afterEach, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../migrations/index.ts'
import { forEachEngine, newLocation, rowsAt } from '../support/databases.ts'
import { migrateAt } from '../support/other-process.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

const upTo = (version: number) => MIGRATIONS.filter((migration) => migration.version <= version)

forEachEngine('migration 49', (_, engine) => {
  const bytes = (byte: string, length: number) =>
    engine === 'sqlite' ? `x'${byte.repeat(length)}'` : `decode('${byte.repeat(length)}', 'hex')`

  test('gives webhooks to the person or the token that added them or last changed their address, and to nobody where the command line did', async () => {
    const location = await newLocation(engine, cleanUps)
    const run = (sql: string) => rowsAt(location, sql)
    await migrateAt(location, upTo(48), 1)
    await run(
      `INSERT INTO users (id, uid, email, name, role, created_at) VALUES (1, ${bytes('a1', 16)}, 'a@b', 'A', 'admin', 1)`,
    )
    await run(
      `INSERT INTO tokens (id, uid, kind, name, hash, hint, created_by, created_at, scopes)
       VALUES (7, ${bytes('b1', 16)}, 'api', 'x', ${bytes('b1', 32)}, 'x', 1, 0, '["webhooks:manage"]')`,
    )
    const [person, token] = [`1, NULL, '10.0.0.1'`, `1, 7, '10.0.0.1'`]
    const [root, asAda] = [`NULL, NULL, 'command line of root'`, `1, NULL, 'command line of root (sudo by ada)'`]
    // Who added it, and the records of that and of changes: whose, with which token, from where, and what.
    const webhooks: Record<string, [createdBy: string, ...records: [who: string, action: string, after: string][]]> = {
      ab: ['1', [person, 'added', '{"url":"x"}'], [token, 'changed', '{"name":"x \\"url\\":"}']],
      cd: ['1', [token, 'added', '{"url":"x"}'], [person, 'changed', '{"types":["*"]}']],
      ef: ['NULL', [root, 'added', '{"url":"x"}']],
      '1f': ['1', [asAda, 'added', '{"url":"x"}']],
      '2f': ['1'],
      '3f': ['1', [token, 'changed', '{"name":"x"}']],
      '4f': ['1', [person, 'added', '{"url":"x"}'], [token, 'changed', '{"url":"x"}']],
      '5f': [
        '1',
        [token, 'added', '{"url":"x"}'],
        [token, 'changed', '{"url":"x"}'],
        [person, 'changed', '{"url":"x"}'],
      ],
    }
    for (const [byte, [createdBy, ...records]] of Object.entries(webhooks)) {
      await run(
        `INSERT INTO webhook_endpoints (uid, name, url, format, types, secret, created_by, created_at, cursor)
         VALUES (${bytes(byte, 16)}, '${byte}', 'https://x.example', 'standard', '["*"]', ${bytes(byte, 32)}, ${createdBy}, 1, 0)`,
      )
      for (const [who, action, after] of records) {
        await run(
          `INSERT INTO audit (user_id, token_id, origin, at, action, object_id, after)
           VALUES (${who}, 1, 'webhook.${action}', 'whk_${byte.repeat(16)}', '${after}')`,
        )
      }
    }
    await migrateAt(location, upTo(49), 2)
    const owners = await run('SELECT name, owner_id, owner_token_id, suspended_at FROM webhook_endpoints ORDER BY id')
    const number = (value: unknown) => (value === null ? null : Number(value))
    expect(owners.map((row) => [row.name, number(row.owner_id), number(row.owner_token_id), row.suspended_at])).toEqual(
      [
        ['ab', 1, null, null],
        ['cd', 1, 7, null],
        ['ef', null, null, null],
        ['1f', null, null, null],
        ['2f', 1, null, null],
        ['3f', 1, null, null],
        ['4f', 1, 7, null],
        ['5f', 1, null, null],
      ],
    )
  })
})
