/** Releases with small programs in place of executables, which would take seconds to compress. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { PLATFORMS, type Platform, type Release } from '../../scripts/release/release.ts'
import { readPublicKey } from '../../src/lib/minisign.ts'

const ROOT = join(import.meta.dir, '../..')

export const THIS_PLATFORM =
  `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}` as Platform

interface Options extends Pick<Release, 'version' | 'folder'> {
  /** Programs other than the small one, by platform. */
  executables?: Partial<Release['executables']>
  /** What the small program does: the lines of a shell script. */
  does?: string
}

export async function smallRelease({ version, folder, executables, does = '' }: Options): Promise<Release> {
  const program = `${folder}-program`
  await Bun.write(program, `#!/bin/sh\n${does}\n`)
  const small = Object.fromEntries(PLATFORMS.map((each) => [each, program])) as Record<Platform, string>
  return {
    version,
    at: new Date('2026-11-20T19:30:00Z'),
    folder,
    executables: { ...small, ...executables },
    texts: {
      license: 'MIT',
      thirdPartyLicenses: 'Others',
      manPage: `.TH tally 1 "" "${version}"`,
      completions: { bash: 'bash', zsh: 'zsh', fish: 'fish' },
      service: await Bun.file(join(ROOT, 'packaging/tally.service')).text(),
    },
  }
}

/** A key as `minisign -G -W` makes one, which signs releases of tests. */
export async function makeKey(path: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x, d } = privateKey.export({ format: 'jwk' })
  const id = randomBytes(8)
  const bytes = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  const secret = Buffer.concat([
    Buffer.from('Ed\0\0B2'),
    Buffer.alloc(48),
    id,
    Buffer.from(d!, 'base64url'),
    Buffer.from(x!, 'base64url'),
    Buffer.alloc(32),
  ])
  const files = { secretFile: `${path}.key`, publicFile: `${path}.pub` }
  const line = Buffer.concat([Buffer.from('Ed'), id, bytes]).toString('base64')
  await Bun.write(files.secretFile, `untrusted comment: minisign encrypted secret key\n${secret.toString('base64')}\n`)
  await Bun.write(files.publicFile, `untrusted comment: minisign public key\n${line}\n`)
  return { ...files, publicKey: readPublicKey(line) }
}
