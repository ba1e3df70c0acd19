/** The manual as the executable contains it: its pages in Markdown, and the table of contents. */
import { findPack, packedText } from './pack.ts'

/** In the order in which one reads them. */
export type ManualContents = { page: string; title: string }[]

export interface Manual {
  contents: ManualContents
  /** Undefined if there is no such page. */
  page(path: string): Promise<string | undefined>
}

/** Undefined from source where nothing was built yet. */
export async function findManual(): Promise<Manual | undefined> {
  const pack = await findPack('manual')
  const contents = pack && (await packedText(pack, 'contents.json'))
  if (!pack || contents === undefined) return undefined
  return { contents: JSON.parse(contents) as ManualContents, page: (path) => packedText(pack, `${path}.md`) }
}
