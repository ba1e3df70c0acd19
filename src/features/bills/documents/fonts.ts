/**
 * The fonts of documents, embedded in the executable: no fonts of the machine are used, so a bill looks the same
 * everywhere.
 */
import arabic from './fonts/arabic.ttf.zst' with { type: 'file' }
import han from './fonts/han.ttf.zst' with { type: 'file' }
import hangul from './fonts/hangul.ttf.zst' with { type: 'file' }
import hebrew from './fonts/hebrew.ttf.zst' with { type: 'file' }
import bold from './fonts/latin-bold.ttf.zst' with { type: 'file' }
import regular from './fonts/latin-regular.ttf.zst' with { type: 'file' }
import thai from './fonts/thai.ttf.zst' with { type: 'file' }

const FILES = { regular, bold, arabic, hebrew, thai, han, hangul }

export type FontName = keyof typeof FILES

/**
 * Scripts with a font of their own; the Latin font is used for everything else, and has the box for missing characters.
 */
const SCRIPTS: [FontName, RegExp][] = [
  ['arabic', /[\p{Script=Arabic}\u060c\u061b\u061f\u0640]/u],
  ['hebrew', /\p{Script=Hebrew}/u],
  ['thai', /\p{Script=Thai}/u],
  [
    'han',
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303f\u30fb\u30fc\uff00-\uffef]/u,
  ],
  ['hangul', /\p{Script=Hangul}/u],
]

/** The font of a character; undefined for spaces and accents, which use that of the previous character. */
export function fontOf(character: string): FontName | undefined {
  if (/[ \u00a0\u200b-\u200d\p{M}]/u.test(character)) return undefined
  return SCRIPTS.find(([, script]) => script.test(character))?.[0] ?? 'regular'
}

/**
 * The additional fonts that a text needs besides the Latin ones: the font of Han characters alone is eight megabytes.
 */
export async function loadFonts(text: string): Promise<Map<FontName, Buffer>> {
  const needed: FontName[] = [
    'regular',
    'bold',
    ...SCRIPTS.filter(([, script]) => script.test(text)).map(([name]) => name),
  ]
  const load = async (name: FontName) => {
    const compressed = await Bun.file(FILES[name]).bytes()
    return [name, await Bun.zstdDecompress(compressed)] as const
  }
  return new Map(await Promise.all(needed.map(load)))
}
