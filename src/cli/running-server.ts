/**
 * The server that runs on a data folder, as it says there to commands: they know the folder, but not the port on which it
 * listens.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from '../agents/private-files.ts'
import { type Announcement, findProvenServer as findProven, readAnnouncement } from '../agents/proven-server.ts'
import { isAlive } from '../agents/sender-lock.ts'
import { DATABASE_FILE } from '../database/open.ts'
import { COMMIT, VERSION } from '../embedded/version.ts'
import type { ServerIdentity } from '../lib/server-proof.ts'

export type { Announcement }

/** Servers of two commits of one version may expect different databases. */
export const PROGRAM = `${VERSION} ${COMMIT}`

/** Named like the files of the database, which are readable by their owner only. */
export const announcementIn = (dataDir: string) => join(dataDir, `${DATABASE_FILE}-server`)

/** Throws the error of the file system. */
export function announceServer(dataDir: string, identity: ServerIdentity): void {
  writePrivateFile(announcementIn(dataDir), JSON.stringify({ ...identity, program: PROGRAM } satisfies Announcement))
}

/** Unless another server has announced itself since. Throws the error of the file system. */
export function withdrawServer(dataDir: string, pid = process.pid): void {
  if (readAnnouncement(announcementIn(dataDir))?.pid === pid) rmSync(announcementIn(dataDir), { force: true })
}

/** The address of the running server on this machine; undefined if none is known to run. */
export function findServer(dataDir: string): string | undefined {
  const announced = readAnnouncement(announcementIn(dataDir))
  // A server that was killed leaves its announcement.
  return announced && isAlive(announced.pid) ? announced.url : undefined
}

/** The server that runs on the folder and proves it; undefined for anything else at its address. */
export const findProvenServer = (dataDir: string): Promise<Announcement | undefined> =>
  findProven(announcementIn(dataDir))
