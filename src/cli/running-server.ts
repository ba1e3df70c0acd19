/**
 * The address of the server that runs on a data folder, which it leaves there for commands: they know the folder, but not
 * the port on which it listens.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../database/open.ts'

interface Announcement {
  url: string
  pid: number
}

/** Named like the files of the database, which are readable by their owner only. */
const pathIn = (dataDir: string) => join(dataDir, `${DATABASE_FILE}-server`)

/** Throws the error of the file system. */
export function announceServer(dataDir: string, url: string): void {
  const announcement: Announcement = { url, pid: process.pid }
  writeFileSync(pathIn(dataDir), JSON.stringify(announcement), { mode: 0o600 })
}

/** Unless another server has announced itself since. Throws the error of the file system. */
export function withdrawServer(dataDir: string): void {
  if (readAnnouncement(dataDir)?.pid === process.pid) rmSync(pathIn(dataDir), { force: true })
}

/** The address of the running server on this machine; undefined if none is known to run. */
export function findServer(dataDir: string): string | undefined {
  const announced = readAnnouncement(dataDir)
  return announced && isRunning(announced.pid) ? announced.url : undefined
}

/** Undefined if there is none that this user can read: commands then do without. */
function readAnnouncement(dataDir: string): Announcement | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(pathIn(dataDir), 'utf8')) as Partial<Announcement>
    return typeof url === 'string' && URL.canParse(url) && Number.isInteger(pid) ? { url, pid: pid! } : undefined
  } catch {
    return undefined
  }
}

/** A server that was killed leaves its announcement. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
