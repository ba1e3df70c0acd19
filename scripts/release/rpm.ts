/**
 * The packages for Fedora, Red Hat Enterprise Linux, openSUSE and others with RPM, written without RPM's tools, so that a release can
 * be made on any machine. The same commit gives the same bytes. Format: rpm.org, "RPM V4 Package format" and "Header
 * format"; the tags are those of `rpm/rpmtag.h`.
 */
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packagedFiles } from './installed.ts'
import { type InstalledFile, type Platform, type Release, textFile } from './release.ts'
import { LEVEL } from './tar.ts'

const ARCHITECTURES = {
  x86_64: { platform: 'linux-x64', number: 1 },
  aarch64: { platform: 'linux-arm64', number: 19 },
} as const satisfies Record<string, { platform: Platform; number: number }>

type Architecture = keyof typeof ARCHITECTURES

const SCRIPTS = join(import.meta.dir, '../../packaging/rpm')

/** Counts the packages of one version; no package is made twice. */
const PACKAGE_RELEASE = '1'

const SUMMARY = 'Records what AI agents use, shows it, and bills for it'
const DESCRIPTION = `Tally is a server with a web interface. It records the tokens and costs of AI
agents, shows them by person, project and customer, and makes bills of them.`

export async function rpmPackages(release: Release): Promise<string[]> {
  const written: string[] = []
  for (const architecture of Object.keys(ARCHITECTURES) as Architecture[]) {
    const path = join(release.folder, `tally-${rpmVersion(release.version)}-${PACKAGE_RELEASE}.${architecture}.rpm`)
    await Bun.write(path, await rpmPackage(release, architecture))
    written.push(path)
  }
  return written
}

/** A hyphen separates version and release in names of packages; a tilde sorts before the final version. */
const rpmVersion = (version: string) => version.replaceAll('-', '~')

async function rpmPackage(release: Release, architecture: Architecture): Promise<Buffer> {
  const { platform, number } = ARCHITECTURES[architecture]
  const files = await installed(release, release.executables[platform])
  const archive = cpio(files, release.at)
  const payload = gzipSync(archive, { level: LEVEL })
  const header = writeHeader(IMMUTABLE, await tagsOf(release, architecture, files, payload))
  const signature = writeHeader(SIGNATURES, [
    [269, string(sha('sha1', header))],
    [273, string(sha('sha256', header))],
    [1000, int32([header.byteLength + payload.byteLength])],
    [1004, binary(createHash('md5').update(header).update(payload).digest())],
    [1007, int32([archive.byteLength])],
  ])
  const name = `tally-${rpmVersion(release.version)}-${PACKAGE_RELEASE}`
  const padding = Buffer.alloc(-signature.byteLength & 7)
  return Buffer.concat([lead(name, number), signature, padding, header, payload])
}

/** What RPM does with a file when it is changed, and `--excludedocs` leaves out. From `rpm/rpmfiles.h`. */
const FLAGS = { config: 1, documentation: 2, keptIfChanged: 16, license: 128 }

interface PackedFile extends InstalledFile {
  isFolder: boolean
  group: string
  flags: number
}

/** With paths from the root folder, in the order of their names. */
async function installed(release: Release, executable: string): Promise<PackedFile[]> {
  const { license, thirdPartyLicenses } = release.texts
  const files = [
    ...(await packagedFiles(release, executable, 'rpm')),
    textFile('usr/share/licenses/tally/LICENSE', `${license}\n${thirdPartyLicenses}`),
  ]
  const own = ['usr/share/licenses/tally', 'usr/share/tally'].map((path) => ({
    path,
    content: Buffer.alloc(0),
    mode: 0o755,
    isFolder: true,
  }))
  return [...files.map((file) => ({ ...file, isFolder: false })), ...own]
    .map((file) => ({
      ...file,
      // The service's user may read the options, and nobody else.
      group: file.path.startsWith('etc/') ? 'tally' : 'root',
      flags: flagsOf(file.path),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

function flagsOf(path: string): number {
  if (path.startsWith('etc/')) return FLAGS.config | FLAGS.keptIfChanged
  if (path.endsWith('/LICENSE')) return FLAGS.license
  return path.startsWith('usr/share/man/') ? FLAGS.documentation : 0
}

const [FILE_TYPE, FOLDER_TYPE] = [0o100000, 0o040000]

const modeOf = ({ mode, isFolder }: PackedFile) => mode | (isFolder ? FOLDER_TYPE : FILE_TYPE)

/** Of a dependency, from `rpm/rpmds.h`: on a version equal, on one not newer, on a feature of RPM, and of a script. */
const SENSE = { equal: 8, atMost: 10, feature: 1 << 24, program: 1 << 8, beforeInstalling: 1 << 9 }

interface Dependency {
  name: string
  flags: number
  version: string
}

const FEATURES: Dependency[] = [
  ['CompressedFileNames', '3.0.4-1'],
  ['FileDigests', '4.6.0-1'],
  ['PayloadFilesHavePrefix', '4.0-1'],
].map(([name, version]) => ({ name: `rpmlib(${name})`, flags: SENSE.feature | SENSE.atMost, version: version! }))

const REQUIRED: Dependency[] = [
  { name: '/bin/sh', flags: SENSE.program, version: '' },
  { name: '/usr/sbin/groupadd', flags: SENSE.beforeInstalling, version: '' },
  { name: '/usr/sbin/useradd', flags: SENSE.beforeInstalling, version: '' },
  // Bun needs the C library of 2.17.
  { name: 'libc.so.6(GLIBC_2.17)(64bit)', flags: 0, version: '' },
  ...FEATURES,
]

async function tagsOf(
  { version, at }: Release,
  architecture: Architecture,
  files: readonly PackedFile[],
  payload: Uint8Array,
): Promise<Tag[]> {
  const full = `${rpmVersion(version)}-${PACKAGE_RELEASE}`
  const seconds = Math.floor(at.getTime() / 1000)
  const folders = [...new Set(files.map(({ path }) => `/${dirname(path)}/`))]
  const ofFiles = <Value>(value: (file: PackedFile, index: number) => Value) => files.map(value)
  const script = (name: string) => Bun.file(join(SCRIPTS, name)).text()
  return [
    [100, strings(['C'])],
    [1000, string('tally')],
    [1001, string(rpmVersion(version))],
    [1002, string(PACKAGE_RELEASE)],
    [1004, translated(SUMMARY)],
    [1005, translated(DESCRIPTION)],
    [1006, int32([seconds])],
    // Not that of this machine, which would change the bytes.
    [1007, string('localhost')],
    [1009, int32([files.reduce((sum, { content }) => sum + content.byteLength, 0)])],
    [1014, string('MIT')],
    [1016, translated('Applications/System')],
    [1021, string('linux')],
    [1022, string(architecture)],
    [1023, string(await script('pre'))],
    [1024, string(await script('post'))],
    [1025, string(await script('preun'))],
    [1026, string(await script('postun'))],
    [1028, int32(ofFiles(({ content }) => content.byteLength))],
    [1030, int16(ofFiles(modeOf))],
    [1033, int16(ofFiles(() => 0))],
    [1034, int32(ofFiles(() => seconds))],
    [1035, strings(ofFiles(({ isFolder, content }) => (isFolder ? '' : sha('sha256', content))))],
    [1036, strings(ofFiles(() => ''))],
    [1037, int32(ofFiles(({ flags }) => flags))],
    [1039, strings(ofFiles(() => 'root'))],
    [1040, strings(ofFiles(({ group }) => group))],
    // RPM takes a package without it for one of sources.
    [1044, string(`tally-${full}.src.rpm`)],
    [1045, int32(ofFiles(() => -1))],
    [1047, strings(['tally', `tally(${architecture.replace('_', '-')})`])],
    [1048, int32(REQUIRED.map(({ flags }) => flags))],
    [1049, strings(REQUIRED.map(({ name }) => name))],
    [1050, strings(REQUIRED.map((required) => required.version))],
    [1064, string('4.16.0')],
    [1085, string('/bin/sh')],
    [1086, string('/bin/sh')],
    [1087, string('/bin/sh')],
    [1088, string('/bin/sh')],
    [1095, int32(ofFiles(() => 1))],
    [1096, int32(ofFiles((_, index) => index + 1))],
    [1097, strings(ofFiles(() => ''))],
    [1112, int32([SENSE.equal, SENSE.equal])],
    [1113, strings([full, full])],
    [1116, int32(ofFiles(({ path }) => folders.indexOf(`/${dirname(path)}/`)))],
    [1117, strings(ofFiles(({ path }) => basename(path)))],
    [1118, strings(folders)],
    [1124, string('cpio')],
    [1125, string('gzip')],
    [1126, string(String(LEVEL))],
    [1132, string(`${architecture}-linux`)],
    // SHA-256, by its number in OpenPGP.
    [5011, int32([8])],
    [5062, string('utf-8')],
    [5092, strings([sha('sha256', payload)])],
    [5093, int32([8])],
  ]
}

const sha = (algorithm: 'sha1' | 'sha256', content: Uint8Array) => createHash(algorithm).update(content).digest('hex')

/** The first 96 bytes, by which `file(1)` knows a package. Everything in them is also in the header. */
function lead(name: string, architecture: number): Buffer {
  const bytes = Buffer.alloc(96)
  bytes.set([0xed, 0xab, 0xee, 0xdb, 3, 0])
  bytes.writeUInt16BE(architecture, 8)
  bytes.write(name.slice(0, 65), 10)
  // Linux, and signatures in a header.
  bytes.writeUInt16BE(1, 76)
  bytes.writeUInt16BE(5, 78)
  return bytes
}

/** A value of a header: its type by RPM's number, and the alignment of its bytes. */
interface Value {
  type: number
  count: number
  alignment: number
  bytes: Buffer
}

type Tag = readonly [tag: number, value: Value]

const terminated = (texts: readonly string[]) => Buffer.from(texts.map((text) => `${text}\0`).join(''))

const string = (text: string): Value => ({ type: 6, count: 1, alignment: 1, bytes: terminated([text]) })
const strings = (texts: readonly string[]): Value => ({
  type: 8,
  count: texts.length,
  alignment: 1,
  bytes: terminated(texts),
})
const translated = (text: string): Value => ({ ...string(text), type: 9 })
const binary = (bytes: Buffer): Value => ({ type: 7, count: bytes.byteLength, alignment: 1, bytes })

function int16(numbers: readonly number[]): Value {
  const bytes = Buffer.alloc(numbers.length * 2)
  for (const [index, number] of numbers.entries()) bytes.writeUInt16BE(number, index * 2)
  return { type: 3, count: numbers.length, alignment: 2, bytes }
}

function int32(numbers: readonly number[]): Value {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [index, number] of numbers.entries()) bytes.writeInt32BE(number, index * 4)
  return { type: 4, count: numbers.length, alignment: 4, bytes }
}

/** Tags of the region that makes a header unchangeable: of the package, and of its signatures. */
const [SIGNATURES, IMMUTABLE] = [62, 63]

const ENTRY_BYTES = 16

/** A header: an index of tags, and a store of their values, in which the trailer of the region comes last. */
function writeHeader(region: number, tags: readonly Tag[]): Buffer {
  const count = tags.length + 1
  const store: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  const append = (bytes: Buffer) => {
    store.push(bytes)
    offset += bytes.byteLength
  }
  for (const [tag, { type, count, alignment, bytes }] of tags) {
    append(Buffer.alloc((alignment - (offset % alignment)) % alignment))
    entries.push(entry([tag, type, offset, count]))
    append(bytes)
  }
  entries.unshift(entry([region, 7, offset, ENTRY_BYTES]))
  append(entry([region, 7, -count * ENTRY_BYTES, ENTRY_BYTES]))
  const start = Buffer.from([0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0])
  return Buffer.concat([start, int32([count, offset]).bytes, ...entries, ...store])
}

const entry = (numbers: readonly [tag: number, type: number, offset: number, count: number]) => int32(numbers).bytes

/** The "new ASCII" format of `cpio(5)`: numbers in hexadecimal, names and contents at offsets divisible by four. */
function cpio(files: readonly PackedFile[], at: Date): Buffer {
  const seconds = Math.floor(at.getTime() / 1000)
  const parts: Uint8Array[] = []
  const add = (name: string, content: Uint8Array, { inode = 0, mode = 0, time = 0 } = {}) => {
    const nameBytes = terminated([name])
    const numbers = [inode, mode, 0, 0, 1, time, content.byteLength, 0, 0, 0, 0, nameBytes.byteLength, 0]
    const head = `070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}`
    parts.push(Buffer.from(head), nameBytes, Buffer.alloc(-(head.length + nameBytes.byteLength) & 3))
    parts.push(content, Buffer.alloc(-content.byteLength & 3))
  }
  for (const [index, file] of files.entries()) {
    add(`./${file.path}`, file.content, { inode: index + 1, mode: modeOf(file), time: seconds })
  }
  add('TRAILER!!!', Buffer.alloc(0))
  return Buffer.concat(parts)
}
