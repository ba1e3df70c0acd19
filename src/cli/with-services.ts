import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Party } from '../access/actor.ts'
import type { Asker } from '../access/asker.ts'
import { type Config, readConfig, readOperator } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Services } from '../services.ts'
import { serverUrl } from './address.ts'
import { CommandError } from './failures.ts'
import { keepPrivate } from './private-folder.ts'

/** The command line has an admin's rights. */
export type Self = Party & Asker

/** The flags that locate the database, accepted by every command. */
export interface DatabaseFlags {
  data?: string
  databaseUrl?: string
  databaseUrlFile?: string
  /** The person to record as the actor. */
  as?: string
}

/** The flags that most commands accept. */
export interface CommandFlags extends DatabaseFlags {
  json?: boolean
}

/**
 * Runs `work` on the database that the flags name, even while a server uses it. It has the rights of an admin,
 * and what it changes is recorded under the name of the machine's user, and of the person in `--as`. Only a command that
 * `creates` makes a database where there is none: to the others, a missing one is a slip in the name of the folder.
 */
export async function withServices<Result>(
  flags: DatabaseFlags,
  work: (services: Services, self: Self) => Promise<Result>,
  {
    creates = false,
    clock,
    slowDeadlineMs,
    config = readConfig(flags),
  }: { creates?: boolean; clock?: Clock; slowDeadlineMs?: number; config?: Config } = {},
): Promise<Result> {
  const { dataDir, databaseUrl, mail, priceUpdates } = config
  // Only now, as drizzle and the services take most of a short command's time: `--help` does without.
  const [{ DATABASE_FILE, openDatabase }, { COMMAND_LINE }, { commandLineActor }, { createServices }, { systemClock }] =
    await Promise.all([
      import('../database/open.ts'),
      import('../access/asker.ts'),
      import('../access/actor.ts'),
      import('../services.ts'),
      import('../lib/clock.ts'),
    ])
  if (!creates && !databaseUrl && isMissing(join(dataDir, DATABASE_FILE))) {
    throw new CommandError(
      `There is no Tally database in ${dataDir}. Set its folder with --data or TALLY_DATA, or create a new one with \`tally serve\` or \`tally users add\`.`,
    )
  }
  const db = await openDatabase({
    dataDir,
    databaseUrl,
    clock: systemClock,
    ...(slowDeadlineMs !== undefined && { slowDeadlineMs }),
  })
  if (creates && !databaseUrl) await keepPrivate(dataDir)
  try {
    const services = createServices({
      db,
      clock: clock ?? systemClock,
      mail,
      priceUpdates,
      webhooks: { privateNetworks: config.webhookPrivateNetworks, localUrl: () => serverUrl(config) },
      publicUrl: config.publicUrl,
    })
    const { as, sudoUser } = readOperator(flags)
    const userId = as === undefined ? null : await keyOf(services, as)
    return await work(services, { ...COMMAND_LINE, person: null, by: commandLineActor({ userId, sudoUser }) })
  } finally {
    await db.close()
  }
}

async function keyOf({ people }: Services, who: string): Promise<number> {
  const user = await people.findUser(who)
  if (!user)
    throw new CommandError(`--as (TALLY_AS): the person '${who}' was not found. List them with \`tally users list\`.`)
  if (user.disabledAt === null) return user.id
  throw new CommandError(`--as (TALLY_AS): the account of '${who}' is disabled, so it cannot act.`)
}

/** Not `existsSync`, to which a folder that one may not read is as good as none. */
function isMissing(path: string): boolean {
  try {
    statSync(path)
    return false
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return true
    throw new CommandError(
      `${path} cannot be read (${message}). Run this command as the user that owns it and runs the server.`,
    )
  }
}
