/** A disk that is soon full. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function smallDiskMissing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can make a small disk'
  const trial = join(tmpdir(), `tally-mount-${process.pid}`)
  mkdirSync(trial, { recursive: true })
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', trial]).success
  if (mounted) Bun.spawnSync(['umount', trial])
  rmSync(trial, { recursive: true })
  return mounted ? undefined : 'a tmpfs cannot be mounted here'
}

/** Makes a disk that any user can write to, as long as `work` takes. */
export async function withSmallDisk<Result>(
  megabytes: number,
  work: (disk: string) => Promise<Result>,
): Promise<Result> {
  const disk = await mkdtemp(join(tmpdir(), 'tally-small-disk-'))
  const options = `size=${megabytes}m,mode=777`
  if (!Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', disk]).success) {
    throw new Error('The small disk could not be mounted')
  }
  try {
    return await work(disk)
  } finally {
    Bun.spawnSync(['umount', '-l', disk])
    await rm(disk, { recursive: true, force: true })
  }
}

/** Fills the disk until nothing more fits. */
export function fill(path: string): void {
  const chunk = Buffer.alloc(1 << 20, 1)
  for (let size = chunk.length; size >= 1; size = Math.floor(size / 16)) {
    try {
      while (true) writeFileSync(path, chunk.subarray(0, size), { flag: 'a' })
    } catch {
      // Full for blocks of this size.
    }
  }
}
