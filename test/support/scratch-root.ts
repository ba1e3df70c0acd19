/**
 * A copy of this machine's file system to install packages in: an overlay in a mount namespace of its own takes all
 * changes, and mounts and processes end with the namespace.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs a shell script in a copy of the root folder, where `folder` is at /mnt, and returns what it prints. */
export async function inScratchRoot(folder: string, script: string): Promise<string> {
  await Bun.write(join(folder, 'script'), script)
  const setUp = `set -e
mount -t tmpfs none "$0"
mkdir "$0/upper" "$0/work" "$0/root"
mount --bind "$1" /mnt
mount -t overlay none -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
mount --rbind /dev "$0/root/dev"
mount -t proc none "$0/root/proc"
mount -t tmpfs none "$0/root/tmp"
mount --bind "$1" "$0/root/mnt"
exec chroot "$0/root" sh -e /mnt/script`
  const scratch = await mkdtemp(join(tmpdir(), 'tally-root-'))
  try {
    const run = Bun.spawn(
      ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', setUp, scratch, folder],
      {
        stdout: 'pipe',
        stderr: 'pipe',
        env: {
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          DEBIAN_FRONTEND: 'noninteractive',
        },
      },
    )
    const [out, errors, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited])
    if (code !== 0) throw new Error(`exit code ${code}\n${out}\n${errors}`)
    return out
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Why packages can't be installed here; undefined if they can. */
export function scratchRootHindrance(): string | undefined {
  if (process.platform !== 'linux') return 'this is not Linux'
  if (process.getuid?.() !== 0) return 'only root can install packages'
  const probe = Bun.spawnSync([
    ...['unshare', '--mount', '--pid', '--fork', 'sh', '-c'],
    'mount -t tmpfs none /mnt && mkdir /mnt/u /mnt/w /mnt/r && mount -t overlay none -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/r',
  ])
  if (probe.exitCode !== 0) return 'this machine permits no overlay mounts'
  return undefined
}
