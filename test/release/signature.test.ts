/** Signatures of releases, made by the scripts and by minisign, and checked by both. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sign } from 'node:crypto'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archives } from '../../scripts/release/archives.ts'
import { checksumsOf, writeChecksums } from '../../scripts/release/checksums.ts'
import { signChecksums, signingKey } from '../../scripts/release/signature.ts'
import { obstacles } from '../../scripts/release.ts'
import { publicKeyLine, readPublicKey, SignatureError, signatureText, verifySignature } from '../../src/lib/minisign.ts'
import { makeKey, smallRelease } from '../support/release.ts'

const INSTALLER = join(import.meta.dir, '../../packaging/install.sh')
const MINISIGN = Bun.which('minisign')
if (!MINISIGN) console.warn('Not compared with minisign, which is not installed: apt-get install minisign')

let folder: string
let release: string
let key: Awaited<ReturnType<typeof makeKey>>
let other: typeof key

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-signature-'))
  key = await makeKey(join(folder, 'release'))
  other = await makeKey(join(folder, 'other'))
  release = await signedRelease('1.2.3')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function signedRelease(version: string, name = version): Promise<string> {
  const made = await smallRelease({ version, folder: join(folder, name), does: `echo "tally ${version}"` })
  await writeChecksums(made.folder, await checksumsOf(await archives(made)))
  await signChecksums(made, (await signingKey(key.secretFile, folder))!)
  return made.folder
}

const textOf = (...path: string[]) => Bun.file(join(...path)).text()
const bytesOf = (...path: string[]) => Bun.file(join(...path)).bytes()

test('the same release and key give the same signature, with the version and the time of the commit', async () => {
  const signature = await textOf(release, 'SHA256SUMS.minisig')
  expect(await textOf(await signedRelease('1.2.3', 'again'), 'SHA256SUMS.minisig')).toBe(signature)
  expect(signature).toContain('\ntrusted comment: tally 1.2.3, 2026-11-20T19:30:00.000Z\n')
  const sums = await bytesOf(release, 'SHA256SUMS')
  expect(verifySignature(sums, signature, key.publicKey)).toBe('tally 1.2.3, 2026-11-20T19:30:00.000Z')
})

describe('a signature does not hold', () => {
  const changes: [what: string, change: (parts: { sums: Uint8Array; lines: string[] }) => void, message: RegExp][] = [
    ['for other checksums', ({ sums }) => void sums.set([0]), /not valid for this content/],
    ['with another trusted comment', ({ lines }) => void lines.splice(2, 1, `${lines[2]}!`), /not valid/],
    ['without its last line', ({ lines }) => void lines.splice(3), /incomplete/],
    ['if it is no base64', ({ lines }) => void lines.splice(1, 1, '<html>'), /incomplete/],
    [
      'of a kind that signs the content itself',
      ({ lines }) => void lines.splice(1, 1, lines[1]!.replace(/^RU/, 'RW')),
      /another kind/,
    ],
  ]
  test.each(changes)('%s', async (_what, change, message) => {
    const parts = {
      sums: await bytesOf(release, 'SHA256SUMS'),
      lines: (await textOf(release, 'SHA256SUMS.minisig')).split('\n'),
    }
    change(parts)
    const check = () => verifySignature(parts.sums, parts.lines.join('\n'), key.publicKey)
    expect(check).toThrow(SignatureError)
    expect(check).toThrow(message)
  })

  test('with another key, whose number the error names', async () => {
    const [sums, signature] = [await bytesOf(release, 'SHA256SUMS'), await textOf(release, 'SHA256SUMS.minisig')]
    expect(() => verifySignature(sums, signature, other.publicKey)).toThrow(
      `made with the key ${key.publicKey.id}, not with ${other.publicKey.id}`,
    )
  })

  test('with a file that is not a key', () => {
    for (const text of [
      '',
      'untrusted comment: nothing\n',
      'ssh-ed25519 AAAA',
      publicKeyLine(key.publicKey).slice(4),
    ]) {
      expect(() => readPublicKey(text)).toThrow('not a public key')
    }
  })
})

describe.skipIf(!MINISIGN)('minisign', () => {
  const minisign = (args: string[], stdin?: string) =>
    Bun.spawnSync([MINISIGN!, ...args], { stdin: Buffer.from(stdin ?? ''), stdout: 'pipe', stderr: 'pipe' })

  test('accepts the signature, and refuses one of changed checksums', async () => {
    const verified = minisign(['-V', '-P', publicKeyLine(key.publicKey), '-m', join(release, 'SHA256SUMS')])
    expect(verified.stdout.toString()).toContain('Trusted comment: tally 1.2.3, 2026-11-20T19:30:00.000Z')
    const changed = await signedRelease('1.2.3', 'changed')
    await Bun.write(join(changed, 'SHA256SUMS'), `${await textOf(changed, 'SHA256SUMS')} `)
    expect(minisign(['-V', '-P', publicKeyLine(key.publicKey), '-m', join(changed, 'SHA256SUMS')]).exitCode).toBe(1)
  })

  test('makes keys that sign releases, and signatures that hold here', async () => {
    const [secret, pub] = [join(folder, 'made.key'), join(folder, 'made.pub')]
    expect(minisign(['-G', '-W', '-p', pub, '-s', secret]).exitCode).toBe(0)
    const made = await signingKey(secret, folder)
    expect(made!.publicKey).toEqual(readPublicKey(await textOf(pub)))
    const at = await signedRelease('1.2.3', 'by-minisign')
    const sums = join(at, 'SHA256SUMS')
    expect(minisign(['-S', '-s', secret, '-m', sums, '-t', 'by hand']).exitCode).toBe(0)
    expect(verifySignature(await bytesOf(sums), await textOf(`${sums}.minisig`), made!.publicKey)).toBe('by hand')
  })
})

describe('release.ts', () => {
  const message = async (keyFile: string, root = folder) => (await obstacles('1.2.3', root, keyFile)).at(-1)

  beforeAll(async () => {
    await Bun.$`git init --quiet`.cwd(folder).quiet()
    await Bun.write(join(folder, 'CHANGELOG.md'), '')
  })

  test('refuses a key that is not the one in the repository', async () => {
    const root = join(folder, 'repository')
    await Bun.$`git init --quiet ${root}`.quiet()
    await Bun.write(join(root, 'CHANGELOG.md'), '')
    await Bun.write(join(root, 'packaging/minisign.pub'), await textOf(key.publicFile))
    expect(await message(other.secretFile, root)).toMatch(
      new RegExp(`has the key ${other.publicKey.id}, but packaging/minisign.pub has ${key.publicKey.id}`),
    )
    expect(await message(key.secretFile, root)).not.toContain('SIGNING_KEY')
  })

  test('refuses what is not a key, and a key with a password, with what to do', async () => {
    expect(await message(join(folder, 'missing'))).toMatch(/TALLY_SIGNING_KEY_FILE can't be read/)
    expect(await message(key.publicFile)).toMatch(/is not a secret key of minisign/)
    const bytes = Buffer.from((await textOf(key.secretFile)).split('\n')[1]!, 'base64')
    bytes.write('Sc', 2)
    const encrypted = join(folder, 'encrypted.key')
    await Bun.write(encrypted, `untrusted comment: minisign encrypted secret key\n${bytes.toString('base64')}\n`)
    expect(await message(encrypted)).toMatch(/protected by a password.*minisign -S/)
  })
})

describe('install.sh', () => {
  /** Programs by what checks the signature: only those of a folder are found. */
  const checkers: [name: string, isThere: boolean][] = [
    ['minisign', MINISIGN !== null],
    ['openssl', hasOpenSsl3()],
  ]
  const others =
    'sh sed awk tar gzip cp mv mkdir rm mktemp chmod uname find dirname tail head tr cmp grep cat wc sha256sum'

  function hasOpenSsl3(): boolean {
    if (!Bun.which('openssl')) return false
    return Bun.spawnSync(['openssl', 'version'], { stdout: 'pipe' }).stdout.toString().startsWith('OpenSSL 3')
  }

  async function pathWith(programs: string): Promise<string> {
    const path = await mkdtemp(join(folder, 'path-'))
    for (const name of programs.split(' ')) await symlink(Bun.which(name)!, join(path, name))
    return path
  }

  async function install(path: string, ...args: string[]) {
    const prefix = await mkdtemp(join(folder, 'prefix-'))
    const { exitCode, stderr } = Bun.spawnSync(['/bin/sh', INSTALLER, '--prefix', prefix, ...args], {
      env: { PATH: path, HOME: prefix },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return {
      code: exitCode,
      stderr: stderr.toString(),
      isInstalled: await Bun.file(join(prefix, 'bin/tally')).exists(),
    }
  }

  for (const [checker, isThere] of checkers) {
    if (!isThere) console.warn(`install.sh is not tested with ${checker}, which is not installed.`)
    test.skipIf(!isThere)(
      `checks the signature with ${checker}, and installs nothing if it does not hold`,
      async () => {
        const path = await pathWith(`${others} ${checker}`)
        for (const named of [key.publicFile, publicKeyLine(key.publicKey)]) {
          expect(await install(path, '--from', release, '--key', named)).toEqual({
            code: 0,
            stderr: '',
            isInstalled: true,
          })
        }
        const wrong = await install(path, '--from', release, '--key', other.publicFile)
        expect(wrong).toMatchObject({ code: 1, isInstalled: false })
        expect(wrong.stderr).toContain('was not made with this key')

        const changed = await signedRelease('1.2.3', `changed-for-${checker}`)
        await Bun.write(join(changed, 'SHA256SUMS'), `${await textOf(changed, 'SHA256SUMS')}\n`)
        const refused = await install(path, '--from', changed, '--key', key.publicFile)
        expect(refused).toMatchObject({ code: 1, isInstalled: false })
        expect(refused.stderr).toContain('SHA256SUMS or its signature was changed')
      },
    )
  }

  const forgeries: [what: string, forge: (lines: string[], content: Uint8Array) => Promise<string[]>][] = [
    ['another comment', async (lines) => lines.with(2, 'trusted comment: tally 9.9.9, 2026-12-24T00:00:00.000Z')],
    ['a comment with further text', async (lines) => lines.with(2, `${lines[2]} `)],
    ['no signature of the comment', async (lines) => lines.slice(0, 3)],
    [
      'a comment without the words that announce it',
      async (lines) => lines.with(2, lines[2]!.slice('trusted '.length)),
    ],
    [
      'a comment that another key signed',
      async (lines, content) => {
        const { privateKey } = (await signingKey(other.secretFile, folder))!
        const forged = signatureText(content, {
          id: key.publicKey.id,
          comment: 'tally 9.9.9',
          sign: (bytes) => sign(null, bytes, privateKey),
        }).split('\n')
        return [...lines.slice(0, 2), ...forged.slice(2)]
      },
    ],
    ['a signature that is longer', async (lines) => lines.with(1, `${lines[1]}AAAA`)],
    [
      'a signature of the content itself, which minisign no longer makes',
      async (lines, content) => {
        const { privateKey } = (await signingKey(key.secretFile, folder))!
        const own = sign(null, content, privateKey)
        const bytes = Buffer.concat([Buffer.from('Ed'), Buffer.from(lines[1]!, 'base64').subarray(2, 10), own])
        const comment = lines[2]!.slice('trusted comment: '.length)
        const ofComment = sign(null, Buffer.concat([own, Buffer.from(comment)]), privateKey)
        return [lines[0]!, bytes.toString('base64'), lines[2]!, ofComment.toString('base64'), '']
      },
    ],
  ]
  for (const [checker] of checkers.filter(([, isThere]) => isThere)) {
    test.each(forgeries)(`refuses, with ${checker}, %s`, async (what, forge) => {
      const at = await signedRelease('1.2.3', `forged: ${what} for ${checker}`)
      const lines = (await textOf(at, 'SHA256SUMS.minisig')).split('\n')
      await Bun.write(join(at, 'SHA256SUMS.minisig'), (await forge(lines, await bytesOf(at, 'SHA256SUMS'))).join('\n'))
      const path = await pathWith(`${others} ${checker}`)
      const refused = await install(path, '--from', at, '--key', key.publicFile)
      expect(refused).toMatchObject({ code: 1, isInstalled: false })
      expect(refused.stderr).toContain('Nothing was installed.')
    })
  }

  test.skipIf(!MINISIGN)('accepts what minisign signed with a key that it made', async () => {
    const [secret, pub] = [join(folder, 'own.key'), join(folder, 'own.pub')]
    const at = await signedRelease('1.2.3', 'signed-by-minisign')
    await Bun.$`${MINISIGN} -G -W -p ${pub} -s ${secret}`.quiet()
    await Bun.$`${MINISIGN} -S -s ${secret} -m ${join(at, 'SHA256SUMS')}`.quiet()
    for (const [checker] of checkers.filter(([, isThere]) => isThere)) {
      const accepted = await install(await pathWith(`${others} ${checker}`), '--from', at, '--key', pub)
      expect([checker, accepted]).toEqual([checker, { code: 0, stderr: '', isInstalled: true }])
    }
  })

  test('asks for a signature and for what checks it if a key is named, and for the key itself', async () => {
    const path = await pathWith(others)
    const withoutProgram = await install(path, '--from', release, '--key', key.publicFile)
    expect(withoutProgram).toMatchObject({ code: 1, isInstalled: false })
    expect(withoutProgram.stderr).toContain('minisign, or OpenSSL 3, is needed')

    const unsigned = await signedRelease('1.2.3', 'unsigned')
    await rm(join(unsigned, 'SHA256SUMS.minisig'))
    expect((await install(path, '--from', unsigned, '--key', key.publicFile)).stderr).toContain(
      'has no SHA256SUMS.minisig',
    )
    expect((await install(path, '--from', unsigned)).isInstalled).toBeTrue()

    for (const no of [join(folder, 'missing.pub'), key.secretFile]) {
      expect((await install(path, '--from', release, '--key', no)).stderr).toContain('neither a public key')
    }
  })
})
