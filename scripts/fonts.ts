/**
 * Generates the fonts for bills, `src/features/bills/documents/fonts/`, from the Noto fonts (SIL Open Font License) in
 * pinned npm packages: `bun scripts/fonts.ts`. Run it after you change the subsets, and commit the result.
 *
 * The packages are downloaded to a temporary folder and are not dependencies: otherwise every checkout would contain
 * their hundred megabytes, of which five are needed. `documents/text.ts` picks the font of a character by the same
 * scripts.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FOLDER = join(import.meta.dir, '../src/features/bills/documents/fonts')

const PINNED = {
  'subset-font': '2.9.0',
  '@expo-google-fonts/noto-sans': '0.4.2',
  '@expo-google-fonts/noto-sans-arabic': '0.4.3',
  '@expo-google-fonts/noto-sans-hebrew': '0.4.1',
  '@expo-google-fonts/noto-sans-thai': '0.4.2',
  '@expo-google-fonts/noto-sans-sc': '0.4.3',
  '@expo-google-fonts/noto-sans-kr': '0.4.3',
}

/** First and last code points. */
type Range = readonly [number, number]

interface Source {
  package: keyof typeof PINNED
  face: string
  characters: Range[]
}

/** Spaces, and the joiners that shape the letters around them. */
const EVERYWHERE: Range[] = [
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x200b, 0x200d],
]

/** Latin with its accents, Greek, Cyrillic, phonetic letters, punctuation, currencies, arrows, letterlike signs. */
const EUROPEAN: Range[] = [
  [0x20, 0x52f],
  [0x1d00, 0x1fff],
  [0x2000, 0x22ff],
  [0x2c60, 0x2c7f],
  [0xa640, 0xa7ff],
  [0xfb00, 0xfb06],
  [0xfffd, 0xfffd],
]

const SOURCES: Record<string, Source> = {
  'latin-regular': { package: '@expo-google-fonts/noto-sans', face: '400Regular', characters: EUROPEAN },
  'latin-bold': { package: '@expo-google-fonts/noto-sans', face: '600SemiBold', characters: EUROPEAN },
  arabic: {
    package: '@expo-google-fonts/noto-sans-arabic',
    face: '400Regular',
    characters: [
      [0x600, 0x6ff],
      [0x750, 0x77f],
      [0x8a0, 0x8ff],
      [0xfb50, 0xfdff],
      [0xfe70, 0xfefc],
    ],
  },
  hebrew: {
    package: '@expo-google-fonts/noto-sans-hebrew',
    face: '400Regular',
    characters: [
      [0x590, 0x5ff],
      [0xfb1d, 0xfb4f],
    ],
  },
  thai: { package: '@expo-google-fonts/noto-sans-thai', face: '400Regular', characters: [[0xe00, 0xe7f]] },
  // The main block of Han characters contains all of GB 2312, GBK, Big5, JIS X 0208 and KS X 1001.
  han: {
    package: '@expo-google-fonts/noto-sans-sc',
    face: '400Regular',
    characters: [
      [0x3000, 0x312f],
      [0x31a0, 0x31ff],
      [0x4e00, 0x9fff],
      [0xff00, 0xffef],
    ],
  },
  hangul: {
    package: '@expo-google-fonts/noto-sans-kr',
    face: '400Regular',
    characters: [
      [0x1100, 0x11ff],
      [0x3130, 0x318f],
      [0xac00, 0xd7a3],
    ],
  },
}

type Subset = (font: Buffer, text: string, options: { targetFormat: 'truetype' }) => Promise<Uint8Array>

function textOf(ranges: Range[]): string {
  let text = ''
  for (const [first, last] of [...EVERYWHERE, ...ranges]) {
    for (let character = first; character <= last; character += 1) text += String.fromCodePoint(character)
  }
  return text
}

/** The copyright lines of the fonts, and the license that they share. */
async function writeLicense(modules: string, packages: Set<string>): Promise<void> {
  const holders: string[] = []
  let terms = ''
  for (const name of packages) {
    const [holder, ...rest] = (await Bun.file(join(modules, name, 'LICENSE_FONT')).text()).trim().split('\n')
    holders.push(holder!.trim())
    terms = rest.join('\n').trim()
  }
  const kept = 'Subsets of Noto fonts, made by scripts/fonts.ts:'
  await Bun.write(join(FOLDER, 'LICENSE'), `${kept}\n\n${[...new Set(holders)].join('\n')}\n\n${terms}\n`)
}

const folder = await mkdtemp(join(tmpdir(), 'fonts-'))
try {
  await Bun.write(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PINNED }))
  await Bun.$`${process.execPath} install`.cwd(folder).quiet()
  const modules = join(folder, 'node_modules')
  const subset: Subset = (await import(join(modules, 'subset-font'))).default
  for (const [name, { package: source, face, characters }] of Object.entries(SOURCES)) {
    const [file] = (await readdir(join(modules, source, face))).filter((entry) => entry.endsWith('.ttf'))
    const font = Buffer.from(await Bun.file(join(modules, source, face, file!)).arrayBuffer())
    const kept = await subset(font, textOf(characters), { targetFormat: 'truetype' })
    // The highest compression level: it runs once, and does not slow down decompression.
    const compressed = Bun.zstdCompressSync(kept, { level: 22 })
    await Bun.write(join(FOLDER, `${name}.ttf.zst`), compressed)
    console.log(`${name}  ${kept.length} bytes, ${compressed.length} compressed`)
  }
  await writeLicense(modules, new Set(Object.values(SOURCES).map((source) => source.package)))
} finally {
  await rm(folder, { recursive: true })
}
